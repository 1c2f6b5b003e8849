//! The cost of a request in the program itself: processor time and voluntary context switches.

use anyhow::Result;

use super::load::{Load, Numbers, PLACE, Template};
use super::report::{Row, StoreReport};
use super::scenery::Scenery;
use super::stage::{Account, Stage};
use super::turns::{Contender, take};
use crate::figure::Goal;
use signpost_xtask::program::Program;

/// A request, its number of connections, and two goals. The goals are the ratio of processor time to the
/// earlier program's, and the number of waits of the program's threads.
struct Case<'a> {
    name: &'static str,
    account: &'a Account,
    method: &'static str,
    path: String,
    body: String,
    connections: u32,
    work: Goal,
    waits: Goal,
}

/// Reads a link and a page, and changes a link, also with an earlier program if one is given.
pub(super) fn of_the_program(stage: &Stage, scenery: &Scenery, report: &mut StoreReport) -> Result<()> {
    let earlier = stage.start_earlier()?;
    let link = || format!("/v1/redirects/rdr_{PLACE}");
    let body = || format!(r#"{{"target_url":"https://example.com/shop/winter/{PLACE}"}}"#);
    let get = |connections, waits| Case {
        name: "GET of a link",
        account: &scenery.stock,
        method: "GET",
        path: link(),
        body: String::new(),
        connections,
        work: Goal::AtMost(0.55),
        waits,
    };
    let page = Case {
        name: "page of 25",
        account: &scenery.large,
        path: "/v1/redirects".to_owned(),
        work: Goal::None,
        ..get(8, Goal::None)
    };
    let patch = |connections, waits| Case {
        name: "PATCH",
        method: "PATCH",
        body: body(),
        work: Goal::None,
        ..get(connections, waits)
    };
    let cases = [
        get(8, Goal::AtMost(1.0)),
        get(1, Goal::AtMost(4.0)),
        page,
        patch(8, Goal::None),
        patch(1, Goal::AtMost(10.0)),
    ];
    for case in &cases {
        compare(stage, scenery, earlier.as_ref(), case, report)?;
    }
    earlier.map_or(Ok(()), Program::stop)
}

fn compare(
    stage: &Stage,
    scenery: &Scenery,
    earlier: Option<&Program>,
    case: &Case<'_>,
    report: &mut StoreReport,
) -> Result<()> {
    let Case { name, account, method, path, body, connections, work, waits } = case;
    let until = report.turn();
    let (first, count) = scenery.updated_links();
    let ask = |program| {
        let caller = account.caller(program);
        let numbers = Numbers::AnyOf { first, count };
        let load = Load { caller: &caller, connections: *connections, until, numbers };
        stage.load(program, &load, || Template::new(&caller, method, path, body))
    };
    let name = format!("{name}, {connections} conn.");
    let mut contenders = Vec::new();
    if let Some(earlier) = earlier {
        contenders.push(Contender::new(format!("{name}: earlier program"), || ask(earlier)));
    }
    contenders.push(Contender::new(format!("{name}: API"), || ask(&stage.program)));
    take(&mut contenders, report.rounds())?;
    if let [earlier, ours] = contenders.as_slice() {
        report.row(&Row::rates(format!("{name}, to the earlier program"), earlier, ours, Goal::None));
        let of = |contender: &Contender<'_>| contender.work(|work| work.program);
        report.row(&Row::numbers(format!("{name}: µs of the program's CPU"), of(earlier), of(ours), *work));
    }
    for contender in &contenders {
        let (waited, goal) = (contender.waits().median, waits);
        let (goal, met) = goal.shown(waited);
        report.note(&format!(
            "{}: {waited:.2} voluntary context switches a request {goal} {met}",
            contender.name
        ));
    }
    report.contenders(&contenders);
    Ok(())
}
