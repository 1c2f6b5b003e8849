//! Errors in settings.

use std::path::PathBuf;

use super::setting::About;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A flag.
    Flag,
    /// An environment variable.
    Variable,
    /// The settings file.
    File(PathBuf),
    /// The setting's default.
    Default,
}

/// Why the program does not start: the setting as the operator gave it, and the problem with it (D61).
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub(crate) struct SettingsError {
    place: String,
    problem: String,
}

impl SettingsError {
    /// The value of a setting is invalid. `problem` follows the setting's place after a colon, such as "must be
    /// on or off".
    pub(crate) fn invalid(setting: &About, source: &Source, problem: impl AsRef<str>) -> Self {
        let key = setting.key;
        let place = match source {
            Source::Flag => format!("--{key}"),
            Source::Variable => setting.variable(),
            Source::File(path) => format!("`{key}` in {}", path.display()),
            Source::Default => format!("the default of `{key}`"),
        };
        Self::at(place, problem)
    }

    /// Another problem, at `place`. Control characters in either are escaped, so that they cannot forge or hide a line on a
    /// terminal.
    pub(crate) fn at(place: impl AsRef<str>, problem: impl AsRef<str>) -> Self {
        Self { place: printable(place.as_ref()), problem: printable(problem.as_ref()) }
    }
}

/// The text with its control characters escaped.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { printable.extend(c.escape_default()) } else { printable.push(c) }
    }
    printable
}
