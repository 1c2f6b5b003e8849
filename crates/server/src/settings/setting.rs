//! What a setting is.

/// Which commands a setting is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every command.
    Everywhere,
    /// `serve`, and the commands that judge links as it does.
    Links,
    /// `serve` alone.
    Serve,
}

/// One setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Its name: the flag without the dashes, and the key in the file.
    pub(crate) key: &'static str,
    /// What stands for its value in `--help`.
    pub(crate) value_name: &'static str,
    /// The value if none is given; a setting without one is off.
    pub(crate) default: Option<&'static str>,
    /// What it does.
    pub(crate) help: &'static str,
    /// The heading in `--help`.
    pub(crate) group: &'static str,
    /// Which commands it is for.
    pub(crate) scope: Scope,
    /// Whether it takes several values.
    pub(crate) is_list: bool,
}

impl Setting {
    /// The environment variable that sets it.
    pub(crate) fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.key.to_ascii_uppercase().replace('-', "_"))
    }
}

/// How every environment variable of the program begins.
pub(crate) const VARIABLE_PREFIX: &str = "SIGNPOST_";
