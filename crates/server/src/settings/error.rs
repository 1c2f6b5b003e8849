//! What is wrong with a setting.

use std::path::PathBuf;

use super::setting::About;

/// Where a value comes from.
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

/// Why the program does not start: the setting as it was given, and what is wrong with it (D61).
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub(crate) struct SettingsError {
    place: String,
    problem: String,
}

impl SettingsError {
    /// A value of a setting is not what it must be. `problem` reads on after "must".
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

    /// Something else is wrong at `place`.
    pub(crate) fn at(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }
}
