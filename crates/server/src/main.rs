//! The program `signpost`: reads its settings, plugs the parts together, and does what it is told. No rules live
//! here.

mod background;
mod clicks;
mod commands;
mod country_database_file;
mod followed_file;
mod listeners;
mod metrics_server;
mod name_servers;
mod open_files;
mod settings;
mod shutdown;
mod system;
mod target_blocklist_file;
mod telemetry;
mod transfer;
mod wiring;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use commands::{Cli, is_usage_error, without_keys};

#[tokio::main]
async fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misunderstood(&error),
    };
    let json = cli.json();
    let Err(error) = cli.run(std::env::vars_os()).await else { return ExitCode::SUCCESS };
    let message = with_causes(&error);
    let message = without_keys(&message);
    let line = if json {
        serde_json::json!({ "error": { "message": message } }).to_string()
    } else {
        format!("error: {message}")
    };
    // If standard error is closed too, the exit code still tells.
    let _ = writeln!(io::stderr(), "{line}");
    if is_usage_error(&error) { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Prints help or a usage error. A usage error quotes the command line, which may hold an API key.
fn misunderstood(error: &clap::Error) -> ExitCode {
    let message = error.to_string();
    let clean = without_keys(&message);
    // If the stream is closed, the exit code still tells.
    let _ = if clean == message { error.print() } else { write!(io::stderr(), "{clean}") };
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The error with those of its causes that it does not repeat itself.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| match message.as_str() {
        "" => cause,
        known if known.contains(&cause) => message,
        _ => format!("{message}: {cause}"),
    })
}
