//! The cases in which the program, a bare actix-web program and nginx take turns.

use anyhow::{Context as _, Result};

use super::contender::{Contender, microseconds};
use super::references::Reference;
use super::report::Goals;
use super::scenery::HOSTNAME;
use super::stage::Stage;
use super::visits::{Pace, Turn, Visits};
use crate::connection::Connection;
use crate::figure::Goal;
use crate::link_features::LinkFeature;
use signpost_xtask::program::Program;

/// A part of the benchmark.
pub(super) type Part = fn(&mut Stage) -> Result<()>;

const MAIN: Goals = Goals { rate: Goal::AtLeast(0.92), work: Goal::AtMost(1.25), p99: Goal::AtMost(1.3) };

/// A thousand of the links.
pub(super) fn few(stage: &mut Stage) -> Result<()> {
    let visits = stage.paths.few()?;
    alone(stage, "1,000 links", &visits, 302, &MAIN, &Pace::ALL)
}

pub(super) fn one(stage: &mut Stage) -> Result<()> {
    let visits = stage.paths.one()?;
    alone(stage, "one link", &visits, 302, &Goals::NONE, &Pace::ALL)
}

/// All links, a few of them often, with a cache for a tenth of them.
pub(super) fn skewed(stage: &mut Stage) -> Result<()> {
    let visits = stage.paths.skewed()?;
    let cache = stage.cache_of(stage.links / 10);
    let program = stage.scenery.start(&cache.iter().map(String::as_str).collect::<Vec<_>>())?;
    let goals = Goals { rate: Goal::AtLeast(0.60), ..Goals::NONE };
    let mut contenders = stage.references(&visits)?;
    contenders.push(Contender::new("ours", &program.links, program.pid(), &visits, 302)?);
    // Warm up with as many visits as links. Then the cache is full and has the frequently visited links.
    let mut warmed_up = 0;
    while warmed_up < u64::from(stage.links) && stage.load.seconds > 0 {
        warmed_up += contenders.last_mut().map_or(Ok(u64::MAX), |ours| ours.warm_up(&stage.load))?;
    }
    stage.take_turns(&mut contenders, &Pace::ALL)?;
    stage.report.case("Zipf 1.1", &contenders, &goals);
    program.stop()
}

/// A figure of a turn.
type Reading = fn(&Turn) -> f64;

/// A thousand links, with and without recording of clicks.
pub(super) fn recorded(stage: &mut Stage) -> Result<()> {
    let visits = stage.paths.few()?;
    let twin = stage.scenery.twin()?;
    let on = stage.scenery.start(&["--metrics-listen", "127.0.0.1:0"])?;
    let off = twin.start(&["--click-recording", "off"])?;
    let mut contenders = vec![Contender::new("not recorded", &off.links, off.pid(), &visits, 302)?];
    contenders.extend(stage.references(&visits)?);
    contenders.push(Contender::new("ours", &on.links, on.pid(), &visits, 302)?);
    stage.take_turns(&mut contenders, &Pace::ALL)?;
    let not_recorded = contenders.remove(0);
    let goals = Goals { rate: Goal::AtLeast(0.88), ..Goals::NONE };
    stage.report.case("recorded", &contenders, &goals);
    if let Some(ours) = contenders.last() {
        compare(stage, "recorded, to not recorded", &not_recorded, ours, Goal::AtLeast(0.95));
    }
    stage.report.note(format!("recorded, of all turns: {}", kept(&on)?));
    off.stop()?;
    on.stop()
}

/// Adds the ratios of what visits cost in two contenders of ours, with a goal for the rate.
fn compare(stage: &mut Stage, name: &str, reference: &Contender, ours: &Contender, rate: Goal) {
    let figures: [(&str, Pace, Reading, Goal); 4] = [
        ("requests a second", Pace::Saturated, Turn::rate, rate),
        ("µs of CPU, saturated", Pace::Saturated, Turn::work_of_one, Goal::None),
        ("µs of CPU, paced", Pace::Paced, Turn::work_of_one, Goal::None),
        ("p99, µs", Pace::Modest, |turn| microseconds(turn.p99), Goal::None),
    ];
    for (figure, pace, of, goal) in figures {
        let numbers = |contender: &Contender| contender.numbers(pace, of);
        let name = format!("{name}: {figure}");
        stage.report.ratio(&name, &numbers(reference), &numbers(ours), goal);
    }
}

/// The metrics of recorded and dropped clicks.
fn kept(program: &Program) -> Result<String> {
    let address = program.metrics.as_deref().context("no address of the metrics")?;
    let mut connection = Connection::open(address)?;
    let answer = connection.exchange(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let body = String::from_utf8_lossy(answer.body);
    let lines = body.lines().filter(|line| {
        line.starts_with("signpost_clicks_dropped_total")
            || line.starts_with("signpost_clicks_recorded_total")
    });
    Ok(lines.collect::<Vec<_>>().join(", "))
}

/// A thousand links with a start and an end, and as many without, on one program.
pub(super) fn dates(stage: &mut Stage) -> Result<()> {
    if lacks(stage, LinkFeature::Dated, "dates: no link has dates") {
        return Ok(());
    }
    let (plain, dated) = (stage.paths.few()?, stage.paths.dated()?);
    let names = ["without dates", "with dates"];
    beside(stage, "links with dates, to those without", names, [&plain, &dated], 0.98)
}

/// A thousand links that forward the query of each visit, and as many that ignore it, on one program.
pub(super) fn forwarding(stage: &mut Stage) -> Result<()> {
    if lacks(stage, LinkFeature::Forwarding, "forwarding: no link forwards queries") {
        return Ok(());
    }
    let (ignoring, forwarding) = (stage.paths.few_with_query()?, stage.paths.forwarding()?);
    let names = ["ignoring queries", "forwarding queries"];
    beside(stage, "links that forward queries, to others", names, [&ignoring, &forwarding], 0.90)
}

/// A thousand links with twenty rules that fail, and as many without rules, on one program.
pub(super) fn rules(stage: &mut Stage) -> Result<()> {
    if lacks(stage, LinkFeature::Ruled, "rules: no link has rules") {
        return Ok(());
    }
    let (plain, ruled) = (stage.paths.few_with_query()?, stage.paths.ruled()?);
    let names = ["without rules", "with 20 failing rules"];
    beside(stage, "links with 20 failing rules, to those without", names, [&plain, &ruled], 0.85)
}

/// A thousand links that share their visitors among targets, and as many with one target, on one program.
pub(super) fn split(stage: &mut Stage) -> Result<()> {
    if lacks(stage, LinkFeature::Splitting, "split: no link has a split") {
        return Ok(());
    }
    let (plain, splitting) = (stage.paths.few()?, stage.paths.splitting()?);
    let names = ["without a split", "with a split"];
    beside(stage, "links with a split, to those without", names, [&plain, &splitting], 0.90)
}

/// Whether there are no links with this feature. Then it notes why.
fn lacks(stage: &mut Stage, feature: LinkFeature, why: &str) -> bool {
    let is_lacking = !stage.scenery.special.contains(&feature);
    if is_lacking {
        stage.report.note(format!("{why}; a folder of an earlier program must be made anew"));
    }
    is_lacking
}

/// Compares visits of two kinds of links on one program, with a goal for the rate of the second.
fn beside(
    stage: &mut Stage,
    title: &str,
    names: [&'static str; 2],
    visits: [&Visits; 2],
    rate: f64,
) -> Result<()> {
    let program = stage.scenery.start(&[])?;
    let mut contenders = Vec::new();
    for (name, visits) in names.into_iter().zip(visits) {
        contenders.push(Contender::new(name, &program.links, program.pid(), visits, 302)?);
    }
    stage.take_turns(&mut contenders, &Pace::ALL)?;
    if let [reference, ours] = contenders.as_slice() {
        compare(stage, title, reference, ours, Goal::AtLeast(rate));
    }
    program.stop()
}

/// Unknown paths, also compared with existing links.
pub(super) fn unknown(stage: &mut Stage) -> Result<()> {
    let (unknown, known) = (stage.paths.unknown()?, stage.paths.few()?);
    let program = stage.scenery.start(&[])?;
    let mut contenders = stage.references(&unknown)?;
    contenders.push(Contender::new("ours", &program.links, program.pid(), &unknown, 404)?);
    let known = Contender::new("known links", &program.links, program.pid(), &known, 302)?;
    contenders.insert(0, known);
    stage.take_turns(&mut contenders, &Pace::ALL)?;
    let known = contenders.remove(0);
    stage.report.case("unknown slugs", &contenders, &Goals::NONE);
    if let Some(ours) = contenders.last() {
        let rates = |contender: &Contender| contender.numbers(Pace::Saturated, Turn::rate);
        let name = "unknown slugs a second, to known ones";
        stage.report.ratio(name, &rates(&known), &rates(ours), Goal::AtLeast(0.75));
    }
    program.stop()
}

pub(super) fn root(stage: &mut Stage) -> Result<()> {
    let visits = stage.paths.root()?.on(HOSTNAME);
    alone(stage, "root of a domain", &visits, 302, &Goals::NONE, &Pace::ALL)
}

pub(super) fn landing(stage: &mut Stage) -> Result<()> {
    let visits = stage.paths.landing()?;
    alone(stage, "landing page", &visits, 200, &Goals::NONE, &Pace::ALL)
}

/// A new connection for each request.
pub(super) fn closing(stage: &mut Stage) -> Result<()> {
    let visits = stage.paths.few()?.closing();
    let goals = Goals { rate: Goal::AtLeast(0.95), work: Goal::AtMost(1.0), p99: Goal::None };
    alone(stage, "closing", &visits, 302, &goals, &[Pace::Saturated, Pace::Modest])
}

/// A new connection for each request to a proxy, which keeps its own connections alive. The proxy runs on the load's core.
pub(super) fn proxied(stage: &mut Stage) -> Result<()> {
    let Some(nginx) = &stage.nginx else {
        stage.report.note("proxied: nginx is not installed".to_owned());
        return Ok(());
    };
    let visits = stage.paths.few()?.closing();
    let program = stage.scenery.start(&["--trusted-proxies", "127.0.0.1"])?;
    let servers = [
        ("actix-web", stage.actix.address(), stage.actix.pid()),
        ("nginx", nginx.address(), nginx.pid()),
        ("ours", program.links.clone(), program.pid()),
    ];
    let behind: Vec<String> = servers.iter().map(|(_, address, _)| address.clone()).collect();
    let proxy = Reference::proxy(stage.load.core, &behind)?;
    let named = servers.iter().zip(&proxy.addresses);
    let contenders: Result<Vec<Contender>> = named
        .map(|((name, _, process), address)| Contender::new(name, address, *process, &visits, 302))
        .collect();
    let mut contenders = contenders?;
    stage.take_turns(&mut contenders, &[Pace::Saturated, Pace::Modest])?;
    stage.report.case("closing, proxied", &contenders, &Goals::NONE);
    program.stop()
}

/// Compares a newly started program with the references.
fn alone(
    stage: &mut Stage,
    name: &str,
    visits: &Visits,
    status: u16,
    goals: &Goals,
    paces: &[Pace],
) -> Result<()> {
    let program = stage.scenery.start(&[])?;
    let mut contenders = stage.references(visits)?;
    contenders.push(Contender::new("ours", &program.links, program.pid(), visits, status)?);
    stage.take_turns(&mut contenders, paces)?;
    stage.report.case(name, &contenders, goals);
    program.stop()
}
