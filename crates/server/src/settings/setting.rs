//! The type of a setting's declaration, and the macro for declarations.

use super::logged::Logged;
use super::{CommonSettings, ServeSettings};

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
    /// Its value in the start-up log. Secrets must not be in it.
    pub(crate) log: fn(&CommonSettings, &ServeSettings) -> Logged,
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

/// Declares settings, lists them, reads the plain ones, and logs them.
///
/// `required: name` or `optional: name` at the end of a declaration makes the setting a field of
/// `PlainSettings`, read by `Sources::required` or `Sources::optional`. Without it, another struct of settings
/// reads the setting.
///
/// The head names what is declared for the settings together: the list, the struct, and the function that logs them.
macro_rules! settings {
    (
        list: $list:ident, plain: $plain:ident, log: $log_start:ident, message: $message:literal;
        $(
        $name:ident: $type:ty = $read:path {
            key: $key:literal, value_name: $value_name:literal, default: $default:expr,
            help: $help:literal, group: $group:literal, scope: $scope:expr, log: $log:expr,
            $(required: $required:ident,)?
            $(optional: $optional:ident,)?
        }
    )*) => {
        $(
            #[doc = concat!("The setting `", $key, "`: see its help.")]
            pub(crate) const $name: Setting<$type> = Setting {
                about: About {
                    key: $key,
                    value_name: $value_name,
                    default: $default,
                    help: $help,
                    group: $group,
                    scope: $scope,
                    log: $log,
                },
                read: $read,
            };
        )*

        /// These settings, in the order of `--help`.
        pub(crate) const $list: &[&About] = &[$(&$name.about),*];

        /// Those of these settings that are for `serve` and need no other setting to be read.
        #[derive(Debug)]
        pub(crate) struct $plain {
            $(
                $(#[doc = $help] pub(crate) $required: $type,)?
                $(#[doc = $help] pub(crate) $optional: Option<$type>,)?
            )*
        }

        impl $plain {
            /// Reads the settings.
            ///
            /// # Errors
            /// One of them is invalid.
            pub(super) fn read(sources: &Sources) -> Result<Self, SettingsError> {
                Ok(Self {
                    $(
                        $($required: sources.required(&$name)?,)?
                        $($optional: sources.optional(&$name)?,)?
                    )*
                })
            }
        }

        /// Logs the settings under their keys.
        pub(crate) fn $log_start(common: &CommonSettings, serve: &ServeSettings) {
            tracing::info!($($key = ($name.about.log)(common, serve),)* $message);
        }
    };
}
pub(super) use settings;
