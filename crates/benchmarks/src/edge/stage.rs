//! The shared state of the cases.

use std::path::PathBuf;

use anyhow::Result;

use super::contender::Contender;
use super::load::Load;
use super::on_postgres::Links;
use super::paths::Paths;
use super::references::Reference;
use super::report::EdgeReport;
use super::scenery::Scenery;
use super::visits::{Pace, Visits};

/// The environment of the benchmark and its report.
pub(super) struct Stage {
    pub(super) executable: PathBuf,
    /// The core of the measured program.
    pub(super) core: u32,
    pub(super) load: Load,
    pub(super) rounds: u32,
    pub(super) links: u32,
    /// Whether the program has a setting for the memory of links.
    pub(super) has_cache: bool,
    pub(super) paths: Paths,
    pub(super) scenery: Scenery,
    pub(super) actix: Reference,
    /// nginx, if it is installed.
    pub(super) nginx: Option<Reference>,
    /// Links on PostgreSQL, created by the first case that needs them.
    pub(super) on_postgres: Option<Links>,
    pub(super) report: EdgeReport,
}

impl Stage {
    /// The references: actix-web, and nginx if it is installed.
    pub(super) fn references(&self, visits: &Visits) -> Result<Vec<Contender>> {
        let named = [("actix-web", Some(&self.actix)), ("nginx", self.nginx.as_ref())];
        let there = named.into_iter().filter_map(|(name, reference)| Some((name, reference?)));
        there
            .map(|(name, reference)| Contender::new(name, &reference.address(), reference.pid(), visits, 302))
            .collect()
    }

    /// Runs the contenders in turns at each pace, round by round, after a warm-up turn of each.
    pub(super) fn take_turns(&self, contenders: &mut [Contender], paces: &[Pace]) -> Result<()> {
        if self.load.seconds > 0 {
            for contender in &mut *contenders {
                contender.warm_up(&self.load)?;
            }
        }
        for _ in 0..self.rounds {
            for pace in paces {
                for contender in &mut *contenders {
                    contender.take(&self.load, *pace, self.core)?;
                }
            }
        }
        Ok(())
    }

    /// Settings for a cache of about `links` links.
    pub(super) fn cache_of(&self, links: u32) -> Vec<String> {
        let mebibytes = (u64::from(links) * BYTES_OF_LINK).div_ceil(1024 * 1024);
        if self.has_cache { vec!["--link-cache".to_owned(), format!("{mebibytes}MiB")] } else { Vec::new() }
    }
}

/// The weight of a link with a target of 60 bytes in the program's cache.
const BYTES_OF_LINK: u64 = 160;
