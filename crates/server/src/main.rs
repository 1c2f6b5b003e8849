//! The program `signpost`: reads its settings, wires the crates together and runs a command. It holds no
//! business rules.

mod background;
mod backup_folder;
mod bots;
mod certificate_files;
mod certificate_memory;
mod certificate_reader;
mod challenge_handshakes;
mod clicks;
mod commands;
mod core_dumps;
mod country_database_file;
mod followed_file;
mod https_server;
mod https_wiring;
mod listeners;
mod metrics_server;
mod name_servers;
mod open_files;
mod process_usage;
mod sampled_metrics;
mod secrets_key_file;
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
    core_dumps::switch_off();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report_usage(&error),
    };
    let json = cli.json();
    let Err(error) = Box::pin(cli.run(std::env::vars_os())).await else { return ExitCode::SUCCESS };
    let message = with_causes(&error);
    let message = without_keys(&message);
    let line = if json {
        serde_json::json!({ "error": { "message": message } }).to_string()
    } else {
        format!("error: {message}")
    };
    // If standard error is closed too, the exit code still reports the failure.
    let _ = writeln!(io::stderr(), "{line}");
    if is_usage_error(&error) { ExitCode::from(2) } else { ExitCode::FAILURE }
}

/// Prints help or a usage error. A usage error quotes the command line, which may hold an API key.
fn report_usage(error: &clap::Error) -> ExitCode {
    let message = error.to_string();
    let clean = without_keys(&message);
    // If the stream is closed, the exit code still reports the error.
    let _ = if clean == message { error.print() } else { write!(io::stderr(), "{clean}") };
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The error's message, followed by the causes that it does not already contain.
fn with_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| match message.as_str() {
        "" => cause,
        known if known.contains(&cause) => message,
        _ => format!("{message}: {cause}"),
    })
}
