//! `cargo xtask <command>`: the commands of the repository.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use signpost_xtask::repository::Repository;
use signpost_xtask::{bench, clients, dist, fuzz_api, rules, soak, sources, test_run};

/// The commands of Signpost's repository.
#[derive(Debug, Parser)]
#[command(name = "xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run every test of the workspace: unit, integration and end-to-end tests, and the examples in the docs.
    Test(test_run::Options),
    /// Run tests again and again on a busy machine, and list those that fail. Without a selection: the slow binaries.
    Unsteady(test_run::UnsteadyOptions),
    /// Test the built program with requests that Schemathesis generates from its OpenAPI document.
    FuzzApi(fuzz_api::Options),
    /// Check the OpenAPI document with linters and generated clients. Needs pip, npm and other package managers.
    Clients(clients::Options),
    /// Measure the built program, each figure as a ratio to a reference in the same run.
    Bench(bench::Options),
    /// Run the fault tests at full length: PostgreSQL, Redis, disks and nodes fail for minutes.
    Soak(soak::Options),
    /// Build what a release consists of: archives, packages for Debian, images and their checksums.
    Dist(dist::Options),
    /// Update the lists of `crates/enrichment`: user agents, bots, referrers. Needs pip and npm.
    Sources,
    /// Check only the repository's rules: imports, file length, names, leftovers (the tests check them too).
    Tidy,
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Test(options) => test_run::run(Repository::of_this_crate()?.root(), &options),
        Command::Unsteady(options) => test_run::find_unsteady(Repository::of_this_crate()?.root(), &options),
        Command::FuzzApi(options) => fuzz_api::run(Repository::of_this_crate()?.root(), &options),
        Command::Clients(options) => clients::run(Repository::of_this_crate()?.root(), &options),
        Command::Bench(options) => bench::run(Repository::of_this_crate()?.root(), &options),
        Command::Soak(options) => soak::run(Repository::of_this_crate()?.root(), &options),
        Command::Dist(options) => dist::run(Repository::of_this_crate()?.root(), &options),
        Command::Sources => sources::run(Repository::of_this_crate()?.root()),
        Command::Tidy => tidy(),
    }
}

fn tidy() -> Result<ExitCode> {
    let findings = rules::check(&Repository::of_this_crate()?)?;
    let mut output = io::stdout().lock();
    for finding in &findings {
        writeln!(output, "{finding}")?;
    }
    writeln!(output, "{} rules, {} findings", rules::RULES.len(), findings.len())?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_commands_are_well_formed() {
        Arguments::command().debug_assert();
    }
}
