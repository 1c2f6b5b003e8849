//! The program `signpost`: reads its settings, wires the crates together and runs a command. It holds no
//! business rules.

mod advice;
mod agents;
mod background;
mod backup_folder;
mod bots;
mod certificate_files;
mod certificate_memory;
mod certificate_reader;
mod challenge_handshakes;
mod check;
mod clicks;
mod commands;
mod core_dumps;
mod country_database_file;
mod followed_file;
mod https_server;
mod https_wiring;
mod listeners;
mod local_api;
mod metrics_server;
mod name_servers;
mod open_files;
mod process_usage;
mod refusal_counts;
mod sampled_metrics;
mod secrets_key_file;
mod settings;
mod setup;
mod shutdown;
mod store_wiring;
mod system;
mod target_blocklist_file;
mod telemetry;
mod transfer;
mod upgrade_copies;
mod wiring;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use commands::{Cli, is_usage_error, without_keys};
use signpost_listener::PassedSockets;

fn main() -> ExitCode {
    core_dumps::switch_off();
    // Before there are other threads.
    let passed = PassedSockets::take();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report_usage(&error),
    };
    let json = cli.json();
    let error = match run(cli, passed) {
        Ok(code) => return code,
        Err(error) => error,
    };
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

#[tokio::main]
async fn run(cli: Cli, passed: io::Result<PassedSockets>) -> anyhow::Result<ExitCode> {
    cli.run(std::env::vars_os(), passed).await
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
pub(crate) fn with_causes(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |message, cause| match message.as_str() {
        "" => cause,
        known if known.contains(&cause) => message,
        _ => format!("{message}: {cause}"),
    })
}
