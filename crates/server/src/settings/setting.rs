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

/// A setting whose value is a `T`.
#[derive(Debug)]
pub(crate) struct Setting<T: 'static> {
    /// What there is to say of it.
    pub(crate) about: About,
    /// Reads its value, or says what it must be.
    pub(crate) read: fn(&str) -> Result<T, String>,
}

/// What there is to say of a setting, whatever its value is.
#[derive(Debug)]
pub(crate) struct About {
    /// Its name: the flag without the dashes, and the key in the file.
    pub(crate) key: &'static str,
    /// What stands for its value in `--help`. It ends with `,...` if the setting takes several values.
    pub(crate) value_name: &'static str,
    /// The value if none is given; a setting without one is off.
    pub(crate) default: Option<&'static str>,
    /// What it does, with an example. A default that depends on others stands at its end: `[default: …]`.
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
