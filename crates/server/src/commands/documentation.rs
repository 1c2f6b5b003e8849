//! What shells and `man` know about the commands: `signpost completions` and `signpost manual` (D208).

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::Cli;
use super::output::{Output, unless_reader_left};

/// The arguments of `signpost completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions of a shell.
pub(super) fn run_completions(arguments: &CompletionsArguments, output: &mut Output<'_>) -> Result<()> {
    let mut script = Vec::new();
    // Into memory first, because this panics if it cannot write.
    clap_complete::generate(arguments.shell, &mut Cli::command(), "signpost", &mut script);
    let written = output.raw().write_all(&script);
    unless_reader_left(written.map_err(anyhow::Error::from))
}

/// The arguments of `signpost manual`.
#[derive(Debug, Args)]
pub(crate) struct ManualArguments {
    /// Folder for the pages, which is created if it is missing.
    folder: PathBuf,
}

/// Writes the manual: a page for the program, and one for each command.
pub(super) fn run_manual(arguments: &ManualArguments) -> Result<()> {
    let ManualArguments { folder } = arguments;
    let failed = || format!("cannot write the manual to {}", folder.display());
    fs::create_dir_all(folder).with_context(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).with_context(failed)
}
