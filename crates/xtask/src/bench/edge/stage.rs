//! Everything that the cases share.

use std::path::PathBuf;

use anyhow::Result;

use super::contender::Contender;
use super::load::Load;
use super::on_postgres::Links;
use super::paths::Paths;
use super::references::Reference;
use super::report::Report;
use super::scenery::Scenery;
use super::visits::{Pace, Visits};

/// What is measured on, and what was found.
pub(super) struct Stage {
    pub(super) executable: PathBuf,
    /// The core of what is measured.
    pub(super) core: u32,
    pub(super) load: Load,
    pub(super) rounds: u32,
    pub(super) links: u32,
    /// Whether the program can be told how much memory links may take.
    pub(super) has_cache: bool,
    pub(super) paths: Paths,
    pub(super) scenery: Scenery,
    pub(super) actix: Reference,
    /// Where it is installed.
    pub(super) nginx: Option<Reference>,
    /// Links on PostgreSQL, once a case has wanted them.
    pub(super) on_postgres: Option<Links>,
    pub(super) report: Report,
}

impl Stage {
    /// What the program is compared with: actix-web, and nginx where it is there.
    pub(super) fn references(&self, visits: &Visits) -> Result<Vec<Contender>> {
        let named = [("actix-web", Some(&self.actix)), ("nginx", self.nginx.as_ref())];
        let there = named.into_iter().filter_map(|(name, reference)| Some((name, reference?)));
        there
            .map(|(name, reference)| Contender::new(name, &reference.address(), reference.pid(), visits, 302))
            .collect()
    }

    /// Lets them take turns at each pace, round by round. A turn of each before warms everything up.
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

    /// The settings with which the program keeps about so many links in memory.
    pub(super) fn cache_of(&self, links: u32) -> Vec<String> {
        let mebibytes = (u64::from(links) * BYTES_OF_LINK).div_ceil(1024 * 1024);
        if self.has_cache { vec!["--link-cache".to_owned(), format!("{mebibytes}MiB")] } else { Vec::new() }
    }
}

/// What a link with a target of 60 bytes weighs in the program's cache.
const BYTES_OF_LINK: u64 = 160;
