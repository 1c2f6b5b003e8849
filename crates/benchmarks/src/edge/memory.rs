//! The memory of visited links.

use anyhow::Result;

use super::contender::Contender;
use super::machine;
use super::stage::Stage;
use super::visits::{Pace, Turn, Visits};
use crate::figure::{Figure, Goal};

/// The memory of a plain map of boxed strings for a million links, in MiB.
const PLAIN_MAP: f64 = 222.0;

/// The minimum of the setting: some thousand links.
const SMALLEST_CACHE: [&str; 2] = ["--link-cache", "1MiB"];

/// Visits every link, once with room for all links and once for almost none, and compares the memory of the program. The
/// difference excludes other memory of visits, such as the pages of the store's readers.
pub(super) fn of_links(stage: &mut Stage) -> Result<()> {
    if !stage.has_cache {
        stage.report.note("memory: this program keeps no links in memory".to_owned());
        return Ok(());
    }
    let visits = stage.paths.all()?;
    let (idle, without, _) = memory_after(stage, &visits, &SMALLEST_CACHE)?;
    // Leave spare room, so that no link is evicted.
    let cache = stage.cache_of(stage.links * 2);
    let settings: Vec<&str> = cache.iter().map(String::as_str).collect();
    let (_, with, work) = memory_after(stage, &visits, &settings)?;
    let name = format!("MiB for {} visited links, to a plain map", stage.links);
    let millions = f64::from(stage.links) / 1e6;
    let added = (with - without).max(0.0);
    stage.report.ratio(&name, &[PLAIN_MAP * millions], &[added], Goal::AtMost(0.75));
    stage.report.note(format!(
        "memory: {idle:.1} MiB at the start, {without:.1} MiB after all visits with room for almost no link, {with:.1} MiB with \
         room for all; a visit of any of them took {work:.1} µs of CPU then"
    ));
    Ok(())
}

/// The program's memory in MiB before and after every link was visited, and the work of a visit in microseconds.
fn memory_after(stage: &Stage, visits: &Visits, settings: &[&str]) -> Result<(f64, f64, f64)> {
    // Turn recording off: the memory of waiting clicks depends on the pace of visitors, not on links.
    let settings = [settings, &["--click-recording", "off"]].concat();
    let program = stage.scenery.start(&settings)?;
    let memory = || -> Result<f64> {
        Ok(f64::from(u32::try_from(machine::own_memory(program.pid())? >> 10)?) / 1024.0)
    };
    let before = memory()?;
    let mut ours = Contender::new("ours", &program.links, program.pid(), visits, 302)?;
    let mut visited = 0;
    while visited < u64::from(stage.links) {
        let turn = stage.load.run(&program.links, visits, Pace::Saturated, ours.next())?;
        // The next turn repeats the requests that got no answer.
        visited += turn.requests;
        ours.begin_at(u32::try_from(visited % u64::from(stage.links))?);
        if stage.load.seconds == 0 {
            break;
        }
    }
    let after = memory()?;
    ours.take(&stage.load, Pace::Saturated, stage.core)?;
    program.stop()?;
    let work = Figure::of(ours.numbers(Pace::Saturated, Turn::work_of_one)).median;
    Ok((before, after, work))
}
