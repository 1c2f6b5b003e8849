//! The command line (D60): commands, their options and their help.

mod account;
mod certificate;
mod database;
mod documentation;
mod export;
mod first_start;
mod health;
mod import;
mod key;
mod output;
mod secrets;
mod secrets_key;
mod serve;
mod start_log;
mod user;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::{Args, Parser, Subcommand};
use signpost_listener::PassedSockets;
use signpost_sqlite::OpenError;
use tracing::level_filters::LevelFilter;

use crate::check;
use crate::settings::{
    CommonFlags, CommonSettings, DashboardLinkSettings, Flags, HealthSettings, LinkFlags, LinkSettings,
    SERVICE_FILE, ServeFlags, ServeSettings, SettingsError, Sources, plans_file_form,
};
use crate::setup::{self, SetupArguments};
use crate::telemetry;
use crate::{wiring, with_causes};
use account::AccountCommand;
use certificate::CertificateCommand;
use database::{BackupArguments, MigrateArguments, RestoreArguments};
use documentation::{CompletionsArguments, ManualArguments};
use export::ExportArguments;
pub(crate) use first_start::{FIRST_PLAN, FIRST_START_FILE, curl, reachable};
use health::HealthArguments;
pub(crate) use health::{Question, ask as ask_health};
use import::ImportArguments;
use key::KeyCommand;
pub(crate) use output::Output;
pub(crate) use secrets::without_keys;
use secrets_key::SecretsCommand;
use user::UserCommand;

/// Signpost: short links on your own domain, created through an API and opened in a browser.
///
/// Without a command, Signpost serves. The first start on the embedded store creates an account with a key, and
/// prints a curl line to try.
#[derive(Debug, Parser)]
#[command(name = "signpost", version, after_long_help = after_help(), max_term_width = 100)]
pub(crate) struct Cli {
    // First, because `--help` shows headings in the order in which settings are declared.
    #[command(flatten)]
    serve: ServeFlags,
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The heading in `--help` of the options that every command has. The command's own options come before it.
const EVERY_COMMAND: &str = "Every command";

#[derive(Debug, Args)]
struct Global {
    /// Print results on standard output as JSON.
    #[arg(long, global = true, help_heading = EVERY_COMMAND)]
    json: bool,
    // Not a doc comment, which would need backticks.
    #[arg(
        long,
        global = true,
        help_heading = EVERY_COMMAND,
        value_name = "FILE",
        help = "Settings file\n[default: signpost.toml, if it exists] [env: SIGNPOST_CONFIG]"
    )]
    config: Option<PathBuf>,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API and the links; the default command.
    Serve(ServeFlags),
    /// Bring the database up to date.
    ///
    /// `serve` does this itself on the embedded store, but never on PostgreSQL. The embedded database is copied first.
    Migrate(MigrateArguments),
    /// Copy the embedded database to a file, even while a server uses it.
    Backup(BackupArguments),
    /// Undo an upgrade of the embedded database, which was copied before it.
    ///
    /// Stop the server first. What changed since the upgrade is kept in another file.
    Restore(RestoreArguments),
    /// Write the groups and links of an account to a file. The last line counts what is left out, such as clicks and
    /// the content of pages.
    Export(ExportArguments),
    /// Import groups and links of an account from a file; existing ones stay as they are.
    Import(ImportArguments),
    /// Create, list, suspend and delete accounts.
    #[command(subcommand)]
    Account(AccountCommand),
    /// List, show, renew and remove the certificates of hostnames.
    #[command(subcommand)]
    Certificate(CertificateCommand),
    /// Print the completions of a shell, for its startup file.
    Completions(CompletionsArguments),
    /// Ask the server on this machine about its health; exit status 0 means healthy.
    Health(HealthArguments),
    /// Look for what keeps the installation from working, and suggest a fix.
    ///
    /// Exit status 0 means that all is well, 1 that there are warnings, 2 that something does not work.
    Check,
    /// Issue, list and revoke API keys.
    #[command(subcommand)]
    Key(KeyCommand),
    /// Write the manual pages into a folder, for packages.
    #[command(hide = true)]
    Manual(ManualArguments),
    /// Replace the key that encrypts secrets in the database.
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Set up this machine, up to a first link that opens over HTTPS.
    ///
    /// It writes the settings, also those given as flags, and starts the service of systemd.
    Setup(SetupArguments),
    /// Invite people to the dashboard; list, disable and sign out users, and reset their passwords.
    #[command(subcommand)]
    User(UserCommand),
}

impl Command {
    /// Whether the command takes the setting `key`, which is not one of every command.
    fn takes(&self, key: &str) -> bool {
        match self {
            Self::Serve(_) | Self::Check | Self::Setup(_) => true,
            Self::Import(_) => LinkFlags::include(key),
            Self::Health(_) => HealthSettings::include(key),
            Self::Account(_) | Self::User(_) => DashboardLinkSettings::include(key),
            Self::Migrate(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Export(_)
            | Self::Certificate(_)
            | Self::Completions(_)
            | Self::Key(_)
            | Self::Manual(_)
            | Self::Secrets(_) => false,
        }
    }

    /// The flags behind the command's name.
    fn own_flags(&self) -> Flags {
        match self {
            Self::Serve(ServeFlags(flags)) => flags.clone(),
            Self::Import(arguments) => arguments.links.0.clone(),
            Self::Migrate(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Export(_)
            | Self::Account(_)
            | Self::Certificate(_)
            | Self::Check
            | Self::Completions(_)
            | Self::Health(_)
            | Self::Key(_)
            | Self::Manual(_)
            | Self::Secrets(_)
            | Self::Setup(_)
            | Self::User(_) => Flags::new(),
        }
    }

    /// From which level on lines are logged.
    fn log_level(&self) -> LevelFilter {
        match self {
            Self::Serve(_) => LevelFilter::INFO,
            // Its findings say the same.
            Self::Check => LevelFilter::OFF,
            _ => LevelFilter::WARN,
        }
    }

    /// Runs it. `given` are the flags, `passed` the sockets of the service manager.
    async fn run(
        self,
        settings: &CommonSettings,
        sources: &Sources,
        given: Flags,
        passed: io::Result<PassedSockets>,
        output: &mut Output<'_>,
    ) -> Result<ExitCode> {
        let outcome = match self {
            Command::Serve(_) => {
                let serve_settings = ServeSettings::read(sources)?;
                serve::run(settings, &serve_settings, passed, output).await
            }
            Command::Migrate(arguments) => database::run_migrate(settings, arguments, output).await,
            Command::Restore(arguments) => database::run_restore(settings, arguments, output),
            Command::Backup(arguments) => database::run_backup(settings, arguments, output).await,
            Command::Export(arguments) => {
                let app = wiring::operators_application(settings).await?;
                export::run(&app, arguments, output).await
            }
            Command::Import(arguments) => {
                let links = LinkSettings::read(sources)?;
                let app = wiring::link_application(settings, links).await?;
                import::run(&app, arguments, output).await
            }
            Command::Account(command) => {
                command.require_confirmation()?;
                let dashboard = DashboardLinkSettings::read(sources)?.origin(settings);
                let app = wiring::operators_application(settings).await?;
                account::run(&app, command, &dashboard, output).await
            }
            Command::Certificate(command) => {
                command.require_confirmation()?;
                let serve = command.needs_issuance().then(|| ServeSettings::read(sources)).transpose()?;
                let app = wiring::certificates_application(settings, serve.as_ref()).await?;
                certificate::run(&app, command, output).await
            }
            Command::Completions(arguments) => documentation::run_completions(&arguments, output),
            Command::Manual(arguments) => documentation::run_manual(&arguments),
            Command::Setup(arguments) => return setup::run(arguments, given, output).await,
            Command::Check => return check::run(settings, sources, output).await,
            Command::Health(arguments) => {
                health::run(HealthSettings::read(sources)?, arguments, output).await
            }
            Command::Key(command) => {
                let app = wiring::operators_application(settings).await?;
                key::run(&app, command, output).await
            }
            Command::Secrets(command) => {
                let serve = ServeSettings::read(sources)?;
                let app = wiring::operators_application(settings).await?;
                secrets_key::run(&app, command, serve.clicks.secrets_key.as_ref(), output).await
            }
            Command::User(command) => {
                let dashboard = DashboardLinkSettings::read(sources)?.origin(settings);
                let app = wiring::operators_application(settings).await?;
                user::run(&app, command, &dashboard, output).await
            }
        };
        outcome.map(|()| ExitCode::SUCCESS)
    }
}

fn after_help() -> String {
    format!(
        "\
Settings:
  Give a setting as a flag, as the environment variable shown with it, or as a
  key of the settings file, in this order of precedence. Separate the items of
  a list by commas; in the file a list may be an array. In signpost.toml:
    api-listen = \"0.0.0.0:8080\"
    link-listen = \"0.0.0.0:8081\"
    system-url = \"https://go.example.com\"
    trusted-proxies = [\"10.0.0.0/8\", \"fd00::/8\"]
  The variable RUST_LOG sets what is logged, such as debug or
  signpost_edge=debug. By default serve logs from level info on, the other
  commands from level warn on.

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
  signpost certificate list
  signpost certificate renew go.example.com
  signpost secrets rotate
  signpost user invite --email ada@example.com --account acc_… --role editor
  signpost user reset ada@example.com
  signpost export --account ada@example.com --output links.csv
  signpost import --account ada@example.com --dry-run links.csv
  signpost backup --keep 14 /var/backups/signpost
  signpost restore --before {VERSION}

Stopping:
  On SIGTERM, SIGINT (Ctrl-C), SIGQUIT or SIGHUP (a closed terminal) the program
  finishes running requests and exits, at most 30 seconds after drain-delay. A
  second SIGTERM, SIGINT or SIGQUIT stops it at once. Under `nohup` a closed
  terminal does not stop it.",
        VERSION = env!("CARGO_PKG_VERSION"),
        plans = indented(&plans_file_form())
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// The command line is wrong in a way that only the command can tell.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// Whether the command line or a setting is wrong, as opposed to a command that failed.
pub(crate) fn is_usage_error(error: &anyhow::Error) -> bool {
    error.is::<UsageError>() || error.is::<SettingsError>()
}

impl Cli {
    /// Whether to print results as JSON.
    pub(crate) const fn json(&self) -> bool {
        self.global.json
    }

    /// Runs the command. `variables` are those of the environment, `passed` the sockets of the service manager.
    ///
    /// # Errors
    /// The command failed, or was wrong: [`is_usage_error`] tells them apart.
    pub(crate) async fn run(
        self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        passed: io::Result<PassedSockets>,
    ) -> Result<ExitCode> {
        let Self { global: Global { json, config, common }, serve, command } = self;
        let command = command.unwrap_or_else(|| Command::Serve(ServeFlags::default()));
        let mut flags = common.0;
        if let Some(key) = serve.0.keys().find(|key| !command.takes(key)) {
            return Err(UsageError(format!(
                "--{key} is a setting of `serve`, which this command does not take; leave it out"
            ))
            .into());
        }
        flags.extend(serve.0);
        flags.extend(command.own_flags());
        let mut stdout = io::stdout();
        let output = &mut Output::new(&mut stdout, json);
        let given = flags.clone();
        let (sources, settings) = match (read(flags, variables, config), &command) {
            (Ok(read), _) => read,
            // They need no settings, or make new ones.
            (Err(_), Command::Completions(_) | Command::Manual(_) | Command::Setup(_)) => {
                let sources = Sources::default();
                let settings = CommonSettings::read(&sources)?;
                (sources, settings)
            }
            (Err(error), Command::Check) => return check::report_wrong_settings(&error, output),
            (Err(error), _) => return Err(error.into()),
        };
        telemetry::start_logging(settings.log_format, command.log_level())?;
        let outcome = Box::pin(command.run(&settings, &sources, given, passed, output)).await;
        outcome.map_err(|error| {
            if sources.overlook_the_service() && names_no_database(&error) {
                let error = with_causes(&error);
                anyhow!(
                    "{error}; the settings of the service are in {SERVICE_FILE}: add --config {SERVICE_FILE}"
                )
            } else {
                error
            }
        })
    }
}

fn names_no_database(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(OpenError::NoDatabase { .. })))
}

/// The settings in their sources, and those that every command has.
fn read(
    flags: Flags,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    file: Option<PathBuf>,
) -> Result<(Sources, CommonSettings), SettingsError> {
    let sources = Sources::gather(flags, variables, file)?;
    let settings = CommonSettings::read(&sources)?;
    Ok((sources, settings))
}

#[cfg(test)]
mod tests;
