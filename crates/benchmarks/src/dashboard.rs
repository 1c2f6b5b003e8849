//! `cargo xtask bench dashboard`: the pages of the dashboard, compared with a list of the API, and the API while many people
//! sign in.

mod pages;
pub(super) mod person;
mod sign_ins;

use std::path::{Path, PathBuf};

use anyhow::Result;

use signpost_xtask::program::Profile;

/// The list of the API that everything is compared with.
const LIST: &str = "/v1/redirects?limit=25";

/// The options of the benchmark.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// How many rounds are run.
    #[arg(long, default_value_t = 15)]
    rounds: usize,
    /// How many requests of each kind a round has.
    #[arg(long, default_value_t = 100)]
    requests: u32,
    /// How many links the account has, besides the hundred of its group.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u32).range(100..))]
    links: u32,
    /// Only one of both parts: pages or sign-ins.
    #[arg(long)]
    only: Option<String>,
    /// A program to measure instead of the one built from this checkout.
    #[arg(long)]
    program: Option<PathBuf>,
}

impl Options {
    /// The smallest run of both parts.
    pub(super) fn smallest(program: PathBuf) -> Self {
        Self { rounds: 1, requests: 1, links: 100, only: None, program: Some(program) }
    }
}

/// Runs both parts, each on a program of its own.
pub(super) fn run(root: &Path, options: &Options) -> Result<()> {
    let Options { rounds, requests, links, only, program } = options;
    let executable = crate::program_to_measure(root, program.as_deref(), Profile::Release)?;
    let is_wanted = |part: &str| only.as_ref().is_none_or(|only| only == part);
    if is_wanted("pages") {
        pages::run(&executable, *rounds, *requests, *links)?;
    }
    if is_wanted("sign-ins") {
        sign_ins::run(&executable, *rounds)?;
    }
    Ok(())
}
