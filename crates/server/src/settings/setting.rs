//! The type of a setting's declaration.

/// Which commands a setting is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every command.
    Everywhere,
    /// `serve`, and the commands that validate links as it does.
    Links,
    /// `serve` alone.
    Serve,
}

/// A setting whose value is a `T`.
#[derive(Debug)]
pub(crate) struct Setting<T: 'static> {
    /// Its description.
    pub(crate) about: About,
    /// Parses the value, or returns what the value must be.
    pub(crate) read: fn(&str) -> Result<T, String>,
}

/// The description of a setting of any type.
#[derive(Debug)]
pub(crate) struct About {
    /// Its name: the flag without the dashes, and the key in the file.
    pub(crate) key: &'static str,
    /// The placeholder of the value in `--help`. It ends with `,...` if the setting is a list.
    pub(crate) value_name: &'static str,
    /// The default value. Without one the setting is off, or `help` describes its default.
    pub(crate) default: Option<&'static str>,
    /// What the setting does, with an example. A default that is not a constant comes at the end: `[default:
    /// …]`.
    pub(crate) help: &'static str,
    /// The heading in `--help`.
    pub(crate) group: &'static str,
    /// Which commands it is for.
    pub(crate) scope: Scope,
}

impl About {
    /// Whether it takes several values.
    pub(crate) fn is_list(&self) -> bool {
        self.value_name.ends_with(",...")
    }

    /// The environment variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.key.to_ascii_uppercase().replace('-', "_"))
    }
}

/// How every environment variable of the program begins.
pub(crate) const VARIABLE_PREFIX: &str = "SIGNPOST_";
