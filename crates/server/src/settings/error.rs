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
    pub(crate) fn invalid(setting: &About, source: &Source, problem: impl Into<String>) -> Self {
        let key = setting.key;
        let place = match source {
            Source::Flag => format!("--{key}"),
            Source::Variable => setting.variable(),
            Source::File(path) => format!("`{key}` in {}", path.display()),
            Source::Default => format!("the default of `{key}`"),
        };
        Self { place, problem: problem.into() }
    }

    /// Another problem, at `place`.
    pub(crate) fn at(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }
}
