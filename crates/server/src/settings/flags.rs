//! The settings as flags.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command, FromArgMatches};

use super::catalog::SETTINGS;
use super::setting::{About, Scope};

/// The settings given as flags, by name.
pub(crate) type Flags = BTreeMap<&'static str, String>;

/// The flags of `serve`, without those of every command.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServeFlags(pub(crate) Flags);

/// The flags of commands that validate links, such as `import`.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkFlags(pub(crate) Flags);

impl LinkFlags {
    /// Whether the setting `key` is one of them.
    pub(crate) fn include(key: &str) -> bool {
        in_scope(&[Scope::Links]).any(|(_, setting)| setting.key == key)
    }
}

/// The flags of the settings that every command has.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommonFlags(pub(crate) Flags);

fn in_scope(scopes: &[Scope]) -> impl Iterator<Item = (usize, &'static About)> {
    SETTINGS.iter().copied().enumerate().filter(|(_, setting)| scopes.contains(&setting.scope))
}

fn augment(command: Command, scopes: &[Scope]) -> Command {
    in_scope(scopes).fold(command, |command, (position, setting)| {
        let arg = Arg::new(setting.key)
            .long(setting.key)
            .value_name(setting.value_name)
            .help(help(setting))
            .help_heading(setting.group)
            .display_order(position)
            .global(setting.scope == Scope::Everywhere);
        command.arg(arg)
    })
}

fn help(setting: &About) -> String {
    let About { help, default, .. } = setting;
    let variable = setting.variable();
    match default {
        Some(default) => format!("{help}\n[default: {default}] [env: {variable}]"),
        None => format!("{help}\n[env: {variable}]"),
    }
}

fn given(matches: &ArgMatches, scopes: &[Scope]) -> Flags {
    in_scope(scopes)
        .filter_map(|(_, setting)| Some((setting.key, matches.get_one::<String>(setting.key)?.clone())))
        .collect()
}

macro_rules! flags_of_scopes {
    ($flags:ident, $scopes:expr) => {
        impl FromArgMatches for $flags {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(given(matches, $scopes)))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                self.0.extend(given(matches, $scopes));
                Ok(())
            }
        }

        impl clap::Args for $flags {
            fn augment_args(command: Command) -> Command {
                augment(command, $scopes)
            }

            fn augment_args_for_update(command: Command) -> Command {
                augment(command, $scopes)
            }
        }
    };
}

flags_of_scopes!(ServeFlags, &[Scope::Serve, Scope::Links]);
flags_of_scopes!(LinkFlags, &[Scope::Links]);
flags_of_scopes!(CommonFlags, &[Scope::Everywhere]);
