//! The sources of settings in their order of precedence: flags, variables, the file, defaults (D61).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::catalog::{self, SETTINGS};
use super::error::{SettingsError, Source};
use super::flags::Flags;
use super::setting::{About, Setting, VARIABLE_PREFIX};
use super::toml_file;

/// The file that is read by default, if it exists.
pub(crate) const DEFAULT_FILE: &str = "signpost.toml";

/// The file of the installed service.
pub(crate) const SERVICE_FILE: &str = "/etc/signpost/signpost.toml";

/// The variable that names the settings file. It is not a setting.
pub(crate) const FILE_VARIABLE: &str = "SIGNPOST_CONFIG";

/// The text of one setting, and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) text: String,
    pub(crate) source: Source,
}

/// The settings that were given, as text.
#[derive(Debug, Default)]
pub(crate) struct Sources(BTreeMap<&'static str, Given>);

impl Sources {
    /// Gathers the settings. `variables` are all of the environment; `--config` names `file`.
    ///
    /// # Errors
    /// A variable or a key of the file is not a setting, a value is not text or [damaged](check_text), or the file cannot be
    /// read.
    pub(crate) fn gather(
        flags: Flags,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        file: Option<PathBuf>,
    ) -> Result<Self, SettingsError> {
        let Variables { settings, file: file_of_variable } = read_variables(variables)?;
        let mut given = match file.or(file_of_variable) {
            Some(path) => read_file(&path)?.ok_or_else(|| missing(&path))?,
            None => read_file(Path::new(DEFAULT_FILE))?.unwrap_or_default(),
        };
        given.extend(settings);
        let flags = flags.into_iter().map(|(key, text)| (key, Given { text, source: Source::Flag }));
        given.extend(flags);
        for setting in SETTINGS {
            let Some(Given { text, source }) = given.get(setting.key) else { continue };
            check_text(text, setting.is_list())
                .map_err(|problem| SettingsError::invalid(setting, source, problem))?;
        }
        Ok(Self(given))
    }

    /// The given text of a setting, or its default.
    pub(crate) fn get(&self, setting: &About) -> Option<Given> {
        self.0.get(setting.key).cloned().or_else(|| {
            let text = setting.default?.to_owned();
            Some(Given { text, source: Source::Default })
        })
    }

    /// Whether the operator has left a setting at its default.
    pub(super) fn is_default(&self, setting: &About) -> bool {
        self.get(setting).is_none_or(|given| given.source == Source::Default)
    }

    /// Whether this machine has an installed service whose settings were not given, nor a database of another.
    pub(crate) fn overlook_the_service(&self) -> bool {
        self.is_default(&catalog::DATABASE_URL.about) && Path::new(SERVICE_FILE).exists()
    }

    /// The value of a setting that has a default.
    ///
    /// # Errors
    /// It is invalid.
    pub(super) fn required<T>(&self, setting: &Setting<T>) -> Result<T, SettingsError> {
        self.optional(setting)?.ok_or_else(|| SettingsError::at(setting.about.key, "must be given"))
    }

    /// The value of a setting, if it is given or has a default.
    ///
    /// # Errors
    /// It is invalid.
    pub(super) fn optional<T>(&self, setting: &Setting<T>) -> Result<Option<T>, SettingsError> {
        self.optional_as(setting, Ok)
    }

    /// The value of a setting, converted by `make`, if it is given or has a default.
    ///
    /// # Errors
    /// The value is invalid, or `make` fails.
    pub(super) fn optional_as<T, U>(
        &self,
        setting: &Setting<T>,
        make: impl FnOnce(T) -> Result<U, String>,
    ) -> Result<Option<U>, SettingsError> {
        let Setting { about, read } = setting;
        let Some(given) = self.get(about) else { return Ok(None) };
        let value = read(&given.text).and_then(make);
        value.map(Some).map_err(|problem| SettingsError::invalid(about, &given.source, problem))
    }
}

/// Refuses text that a deployment tool has damaged, because it could be a valid value that means something else. A line that
/// ends with CR LF would name another file, and the empty text of a secret that was not injected would be the default.
fn check_text(text: &str, is_list: bool) -> Result<(), String> {
    if text.is_empty() && !is_list {
        return Err("must not be empty; leave the setting out for its default".to_owned());
    }
    if let Some(control) = text.chars().find(|c| c.is_control()) {
        return Err(format!("must not contain the control character {}", control.escape_default()));
    }
    if text.trim() != text {
        return Err("must not begin or end with white space".to_owned());
    }
    Ok(())
}

fn missing(path: &Path) -> SettingsError {
    SettingsError::at(path.display().to_string(), "this settings file does not exist")
}

#[derive(Default)]
struct Variables {
    settings: BTreeMap<&'static str, Given>,
    file: Option<PathBuf>,
}

/// Reads the variables of the program.
fn read_variables(all: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Variables, SettingsError> {
    let mut variables = Variables::default();
    for (name, value) in all {
        let name = name.to_string_lossy();
        if !name.starts_with(VARIABLE_PREFIX) {
            continue;
        }
        if name == FILE_VARIABLE {
            let text = value.to_string_lossy();
            check_text(&text, false).map_err(|problem| SettingsError::at(FILE_VARIABLE, problem))?;
            variables.file = Some(PathBuf::from(value));
            continue;
        }
        let Some(setting) = SETTINGS.iter().find(|setting| setting.variable() == name) else {
            return Err(SettingsError::at(name, format!("unknown setting; {SEE_HELP}")));
        };
        let text = value
            .into_string()
            .map_err(|_| SettingsError::invalid(setting, &Source::Variable, "must be valid UTF-8"))?;
        variables.settings.insert(setting.key, Given { text, source: Source::Variable });
    }
    Ok(variables)
}

const SEE_HELP: &str = "`signpost --help` lists all settings";

fn read_file(path: &Path) -> Result<Option<BTreeMap<&'static str, Given>>, SettingsError> {
    let name = path.display().to_string();
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SettingsError::at(name, format!("cannot be read: {error}"))),
    };
    let table: toml::Table = toml_file::parse(&text).map_err(|problem| SettingsError::at(&*name, problem))?;
    let mut given = BTreeMap::new();
    for (key, value) in table {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            let place = format!("`{key}` in {name}");
            let like = key.replace('_', "-");
            return Err(SettingsError::at(
                place,
                if SETTINGS.iter().any(|setting| setting.key == like) {
                    format!("unknown setting; write it as `{like}`")
                } else {
                    format!("unknown setting; {SEE_HELP}")
                },
            ));
        };
        let source = Source::File(path.to_owned());
        let text =
            text_of(setting, value).map_err(|problem| SettingsError::invalid(setting, &source, problem))?;
        given.insert(setting.key, Given { text, source });
    }
    Ok(Some(given))
}

/// The value in the form of flags and variables.
fn text_of(setting: &About, value: toml::Value) -> Result<String, &'static str> {
    match value {
        toml::Value::String(text) => Ok(text),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Array(items) if setting.is_list() => {
            let texts: Option<Vec<&str>> = items.iter().map(toml::Value::as_str).collect();
            texts.map(|texts| texts.join(",")).ok_or("must be a list of strings")
        }
        toml::Value::Array(_)
        | toml::Value::Float(_)
        | toml::Value::Boolean(_)
        | toml::Value::Datetime(_)
        | toml::Value::Table(_) => {
            Err(if setting.is_list() { "must be a list of strings" } else { "must be a string" })
        }
    }
}
