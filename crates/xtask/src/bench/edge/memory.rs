//! The memory that links take once they were visited.

use anyhow::Result;

use super::contender::Contender;
use super::machine;
use super::stage::Stage;
use super::visits::{Pace, Turn};
use crate::bench::figure::{Figure, Goal};

/// What a plain map of boxed strings takes for a million links, in MiB.
const PLAIN_MAP: f64 = 222.0;

/// Visits every link, and sees how much more memory the program has then.
pub(super) fn of_links(stage: &mut Stage) -> Result<()> {
    if !stage.has_cache {
        stage.report.note("memory: this program keeps no links in memory".to_owned());
        return Ok(());
    }
    let visits = stage.paths.all()?;
    // With room to spare, so that none of them is thrown out.
    let cache = stage.cache_of(stage.links * 2);
    let program = stage.scenery.start(&cache.iter().map(String::as_str).collect::<Vec<_>>())?;
    let before = machine::own_memory(program.pid())?;
    let mut ours = Contender::new("ours", &program.links, program.pid(), &visits, 302)?;
    let mut visited = 0;
    while visited < u64::from(stage.links) {
        let turn = stage.load.run(&program.links, &visits, Pace::Saturated, ours.next())?;
        // The next turn asks once more for what this one was given no answer to.
        visited += turn.requests;
        ours.begin_at(u32::try_from(visited % u64::from(stage.links))?);
        if stage.load.seconds == 0 {
            break;
        }
    }
    let added = machine::own_memory(program.pid())?.saturating_sub(before);
    ours.take(&stage.load, Pace::Saturated, stage.core)?;
    program.stop()?;
    let millions = f64::from(stage.links) / 1e6;
    let mebibytes = f64::from(u32::try_from(added >> 10)?) / 1024.0;
    let name = format!("MiB for {} visited links, to a plain map", stage.links);
    stage.report.ratio(&name, &[PLAIN_MAP * millions], &[mebibytes], Goal::AtMost(0.75));
    let work = Figure::of(ours.numbers(Pace::Saturated, Turn::work_of_one)).median;
    stage.report.note(format!("memory: a visit of any of the links took {work:.1} µs of CPU afterwards"));
    Ok(())
}
