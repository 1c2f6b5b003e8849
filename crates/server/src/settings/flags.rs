//! The settings as flags.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command, FromArgMatches};

use super::catalog::{SETTINGS, Scope, Setting};

/// The settings that were given as flags, by name.
pub(crate) type Flags = BTreeMap<&'static str, String>;

/// The flags of the settings that only `serve` has.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServeFlags(pub(crate) Flags);

/// The flags of the settings that every command has.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommonFlags(pub(crate) Flags);

fn in_scope(scope: Scope) -> impl Iterator<Item = (usize, &'static Setting)> {
    SETTINGS.into_iter().enumerate().filter(move |(_, setting)| setting.scope == scope)
}

fn augment(command: Command, scope: Scope) -> Command {
    in_scope(scope).fold(command, |command, (position, setting)| {
        let arg = Arg::new(setting.key)
            .long(setting.key)
            .value_name(setting.value_name)
            .help(help(setting))
            .help_heading(setting.group)
            .display_order(position)
            .global(scope == Scope::Everywhere);
        command.arg(arg)
    })
}

fn help(setting: &Setting) -> String {
    let Setting { help, default, .. } = setting;
    let variable = setting.variable();
    match default {
        Some(default) => format!("{help}\n[default: {default}] [env: {variable}]"),
        None => format!("{help}\n[env: {variable}]"),
    }
}

fn given(matches: &ArgMatches, scope: Scope) -> Flags {
    in_scope(scope)
        .filter_map(|(_, setting)| Some((setting.key, matches.get_one::<String>(setting.key)?.clone())))
        .collect()
}

macro_rules! flags_of_scope {
    ($flags:ident, $scope:expr) => {
        impl FromArgMatches for $flags {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(given(matches, $scope)))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                self.0.extend(given(matches, $scope));
                Ok(())
            }
        }

        impl clap::Args for $flags {
            fn augment_args(command: Command) -> Command {
                augment(command, $scope)
            }

            fn augment_args_for_update(command: Command) -> Command {
                augment(command, $scope)
            }
        }
    };
}

flags_of_scope!(ServeFlags, Scope::Serve);
flags_of_scope!(CommonFlags, Scope::Everywhere);
