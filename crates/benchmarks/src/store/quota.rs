//! The cost of counting requests in Redis.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use super::load::{Load, Numbers, Template, digits};
use super::redis::Resp;
use super::report::{Row, StoreReport};
use super::scenery::{FIRST_UPDATED, Scenery};
use super::stage::Stage;
use super::turns::{Contender, Round, Work, take};
use crate::figure::Figure;
use crate::figure::Goal;
use crate::turns::Until;

/// The counting script, which a bare `EVALSHA` runs too.
const SCRIPT: &str = "crates/redis/src/scripts/admit.lua";

/// Reads a link with the quota counted in Redis and, on a second node, without Redis. The second node cannot reach Redis,
/// so it counts in memory (D19); its answers are the same.
pub(super) fn of_reads(
    root: &Path,
    stage: &Stage,
    scenery: &Scenery,
    report: &mut StoreReport,
) -> Result<()> {
    let until = report.turn();
    let without = stage.start_without_redis()?;
    let (on, off) = (stage.caller(&scenery.stock), scenery.stock.caller(&without));
    let path = format!("/v1/redirects/rdr_{}", digits(FIRST_UPDATED));
    let read = |program, caller, connections| {
        let load = Load { caller, connections, until, numbers: Numbers::None };
        stage.load(program, &load, || Template::new(caller, "GET", &path, ""))
    };
    let script = fs::read_to_string(root.join(SCRIPT))?;
    let mut contenders = [
        Contender::new("quota, 1 conn.: bare EVALSHA", || bare(stage, &script, until)),
        Contender::new("GET of a link, 1 conn.: API, without Redis", || read(&without, &off, 1)),
        Contender::new("GET of a link, 1 conn.: API", || read(&stage.program, &on, 1)),
        Contender::new("GET of a link, 8 conn.: API, without Redis", || read(&without, &off, 8)),
        Contender::new("GET of a link, 8 conn.: API", || read(&stage.program, &on, 8)),
    ];
    take(&mut contenders, report.rounds())?;
    let [evalsha, one_off, one_on, many_off, many_on] = &contenders;
    let added = |(on, off): (&Round, &Round)| 1e3 / on.rate() - 1e3 / off.rate();
    let added = Figure::of(one_on.rounds.iter().zip(&one_off.rounds).map(added).collect());
    let name = "time that the quota adds to a read, to a bare EVALSHA";
    report.row(&Row::figures(name, evalsha.latency(), added, Goal::AtMost(1.5)));
    let name = "reads at 8 connections with the quota, to those without";
    report.row(&Row::rates(name, many_off, many_on, Goal::AtLeast(0.85)));
    report.contenders(&contenders);
    Ok(())
}

/// One `EVALSHA` after the other.
fn bare(stage: &Stage, script: &str, until: Until) -> Result<Round> {
    let mut redis = stage.redis.connect()?;
    let sha = redis.ask(&["SCRIPT", "LOAD", script])?;
    let largest = "1000000000";
    let key = "signpost:quota:{acc_00000000000000000000000000000000}:2026-01-31";
    let command = Resp::command(&["EVALSHA", &sha, "1", key, "720", largest, largest, "259200"]);
    let (began, mut requests) = (Instant::now(), 0);
    while match until {
        Until::Elapsed(time) => began.elapsed() < time,
        Until::Requests(number) => requests < number,
    } {
        redis.send(&command)?;
        requests += 1;
    }
    Ok(Round { requests, elapsed: began.elapsed(), work: Work::default() })
}
