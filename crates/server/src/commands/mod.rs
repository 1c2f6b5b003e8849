//! What the program can be told to do (D60).

mod account;
mod backup;
mod export;
mod first_start;
mod import;
mod key;
mod migrate;
mod output;
mod secrets;
mod serve;
mod start_log;
mod wording;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use tracing::level_filters::LevelFilter;

use crate::settings::{
    CommonFlags, CommonSettings, LinkFlags, LinkSettings, PLANS_FILE_FORM, ServeFlags, ServeSettings,
    SettingsError, Sources,
};
use crate::telemetry;
use crate::wiring;
use account::AccountCommand;
use backup::BackupArguments;
use export::ExportArguments;
use import::ImportArguments;
use key::KeyCommand;
use output::Output;
pub(crate) use secrets::without_keys;

/// Signpost: short links on your own domain, made through an API and opened in a browser.
///
/// Without a command it serves. On its first start on the embedded store it makes an account with a key and prints a curl
/// line to try.
#[derive(Debug, Parser)]
#[command(name = "signpost", version, after_long_help = after_help(), max_term_width = 100)]
pub(crate) struct Cli {
    // First, because headings of the help stand in the order in which settings come.
    #[command(flatten)]
    serve: ServeFlags,
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The heading in `--help` of what every command takes. A command's own options have another, which comes first.
const EVERY_COMMAND: &str = "Every command";

#[derive(Debug, Args)]
struct Global {
    /// Print results on standard output as JSON.
    #[arg(long, global = true, help_heading = EVERY_COMMAND)]
    json: bool,
    // Written here, because a comment for the documentation would need backticks.
    #[arg(
        long,
        global = true,
        help_heading = EVERY_COMMAND,
        value_name = "FILE",
        help = "File of settings\n[default: signpost.toml, if it is there] [env: SIGNPOST_CONFIG]"
    )]
    config: Option<PathBuf>,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API and the links; this is what happens without a command.
    Serve(ServeFlags),
    /// Bring the database up to date. `serve` does so by itself on the embedded store, and never on PostgreSQL.
    Migrate,
    /// Copy the embedded database to a file, also while a server runs on it.
    Backup(BackupArguments),
    /// Write the groups and links of an account to a file.
    Export(ExportArguments),
    /// Read groups and links of an account from a file; what is there already stays as it is.
    Import(ImportArguments),
    /// Create, list, suspend and delete accounts.
    #[command(subcommand)]
    Account(AccountCommand),
    /// Issue, list and revoke API keys.
    #[command(subcommand)]
    Key(KeyCommand),
}

impl Command {
    /// Whether a setting that not every command has is of use to it.
    fn takes(&self, key: &str) -> bool {
        match self {
            Self::Serve(_) => true,
            Self::Import(_) => LinkFlags::include(key),
            Self::Migrate | Self::Backup(_) | Self::Export(_) | Self::Account(_) | Self::Key(_) => false,
        }
    }
}

fn after_help() -> String {
    format!(
        "\
Settings:
  A setting is given as a flag, as the environment variable that stands with it,
  or as a key of the settings file, and they win in this order. Lists are
  separated by commas; in the file they may be arrays. In signpost.toml:
    api-listen = \"0.0.0.0:8080\"
    link-listen = \"0.0.0.0:8081\"
    system-url = \"https://go.example.com\"
    trusted-proxies = [\"10.0.0.0/8\", \"fd00::/8\"]
  The variable RUST_LOG says what is logged, such as debug or
  signpost_edge=debug; serve logs from info on, the other commands warnings.

Plans:
{plans}

Examples:
  signpost
  signpost serve --database-url sqlite:///var/lib/signpost.db
  signpost serve --api-listen 0.0.0.0:8080 --system-url https://go.example.com
  signpost account create --email ada@example.com
  signpost key issue --account ada@example.com --name website
  signpost key revoke key_…
  signpost account list --json
  signpost export --account ada@example.com --output links.csv
  signpost import --account ada@example.com --dry-run links.csv
  signpost backup /var/backups/signpost-monday.db

Stopping:
  SIGTERM or Ctrl-C stops it when the requests that run are answered, at most
  30 seconds after drain-delay; a second one stops it at once.",
        plans = indented(PLANS_FILE_FORM)
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// The command line asks for something that is not to be had.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// Whether the program was told wrongly, rather than failing at what it was told.
pub(crate) fn is_usage_error(error: &anyhow::Error) -> bool {
    error.is::<UsageError>() || error.is::<SettingsError>()
}

impl Cli {
    /// Whether results are wanted in JSON.
    pub(crate) const fn json(&self) -> bool {
        self.global.json
    }

    /// Does what the command line says. `variables` are those of the environment.
    ///
    /// # Errors
    /// It could not be done; [`is_usage_error`] tells whose fault it is.
    pub(crate) async fn run(self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Result<()> {
        let Self { global: Global { json, config, common }, serve, command } = self;
        let mut flags = common.0;
        if let Some(command) = &command
            && let Some(key) = serve.0.keys().find(|key| !command.takes(key))
        {
            return Err(UsageError(format!(
                "--{key} is a setting of `serve`; this command has no use for it"
            ))
            .into());
        }
        flags.extend(serve.0);
        match &command {
            Some(Command::Serve(ServeFlags(more))) => flags.extend(more.clone()),
            Some(Command::Import(arguments)) => flags.extend(arguments.links.0.clone()),
            Some(
                Command::Migrate
                | Command::Backup(_)
                | Command::Export(_)
                | Command::Account(_)
                | Command::Key(_),
            )
            | None => {}
        }
        let sources = Sources::gather(flags, variables, config)?;
        let settings = CommonSettings::read(&sources)?;
        let mut stdout = io::stdout();
        let output = &mut Output::new(&mut stdout, json);
        match command {
            None | Some(Command::Serve(_)) => {
                let serve_settings = ServeSettings::read(&sources)?;
                telemetry::start_logging(settings.log_format, LevelFilter::INFO)?;
                serve::run(&settings, &serve_settings, output).await
            }
            Some(Command::Migrate) => {
                telemetry::start_logging(settings.log_format, LevelFilter::WARN)?;
                migrate::run(&settings, output).await
            }
            Some(Command::Backup(arguments)) => {
                telemetry::start_logging(settings.log_format, LevelFilter::WARN)?;
                backup::run(&settings, arguments, output).await
            }
            Some(Command::Export(arguments)) => {
                telemetry::start_logging(settings.log_format, LevelFilter::WARN)?;
                let app = wiring::operators_application(&settings).await?;
                export::run(&app, arguments, output).await
            }
            Some(Command::Import(arguments)) => {
                let links = LinkSettings::read(&sources)?;
                telemetry::start_logging(settings.log_format, LevelFilter::WARN)?;
                let app = wiring::link_application(&settings, links).await?;
                import::run(&app, arguments, output).await
            }
            Some(Command::Account(command)) => {
                command.must_be_meant()?;
                telemetry::start_logging(settings.log_format, LevelFilter::WARN)?;
                let app = wiring::operators_application(&settings).await?;
                account::run(&app, command, output).await
            }
            Some(Command::Key(command)) => {
                telemetry::start_logging(settings.log_format, LevelFilter::WARN)?;
                let app = wiring::operators_application(&settings).await?;
                key::run(&app, command, output).await
            }
        }
    }
}

#[cfg(test)]
mod tests;
