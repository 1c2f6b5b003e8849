//! Creating, deleting and ungrouping 100 links at once.

use anyhow::Result;

use super::load::{Load, Numbers, PLACE, Template};
use super::report::{Row, StoreReport};
use super::scenery::{COLUMNS, Scenery, batch, id_of, values};
use super::stage::Stage;
use super::turns::{Contender, take};
use crate::figure::Goal;
use crate::pgbench::Script;
use crate::turns::Until;

const NUMBERS_OF_A_RUN: u64 = 1_000_000_000;
const NONE_FAILED: &str = r#""failed_count":0"#;

/// The ids of a transaction's 100 links.
fn ids() -> String {
    format!("ARRAY(SELECT {} FROM generate_series(0::bigint, 99) AS g)", id_of(":n + g"))
}

/// Creating 100 links, with no taken addresses or with 10.
pub(super) fn creation(stage: &Stage, scenery: &Scenery, report: &mut StoreReport) -> Result<()> {
    let caller = stage.caller(&scenery.writer);
    // These addresses are taken from now on.
    let slugs: Vec<String> = (0..10).map(|number| format!(r#""slug":"taken-{number:04}","#)).collect();
    let conflicting = batch(&slugs);
    let path = "/v1/redirects/bulk";
    caller.connect()?.send(&caller.request("POST", path, &conflicting))?;
    let insert = Script::new(format!(
        "INSERT INTO links ({COLUMNS}) SELECT {}, '{}', {}, NULL FROM generate_series(0::bigint, 99) AS g \
         ON CONFLICT (host, slug) DO NOTHING RETURNING id;",
        id_of(":n + g"),
        scenery.writer.id,
        values(":n + g")
    ));
    let until = report.turn();
    for connections in [1, 8] {
        let api = |body: &str, failures| {
            stage.requests(&caller, connections, until, || {
                Template::new(&caller, "POST", path, body).with_failures(failures)
            })
        };
        let named = |name: &str| format!("bulk create, {connections} conn.: {name}");
        let all = batch(&[]);
        let mut contenders = [
            Contender::new(named("one statement"), || {
                let first = stage.numbers(NUMBERS_OF_A_RUN);
                stage.pgbench(&insert, connections, until, first)
            }),
            Contender::new(named("API"), || api(&all, NONE_FAILED)),
            Contender::new(named("API, 10 of 100 taken"), || api(&conflicting, r#""failed_count":10"#)),
        ];
        take(&mut contenders, report.rounds())?;
        let [bare, all, conflicting] = &contenders;
        let name = format!("bulk create of 100, {connections} connections");
        let goal = if connections == 8 { Goal::AtLeast(0.75) } else { Goal::AtLeast(0.85) };
        report.row(&Row::rates(&name, bare, all, goal));
        report.row(&Row::rates(
            format!("{name}, 10 taken, to none taken"),
            all,
            conflicting,
            Goal::AtLeast(0.85),
        ));
        report.contenders(&contenders);
    }
    Ok(())
}

/// Deleting 100 links from a stock that is refilled before each round.
pub(super) fn deletion(stage: &Stage, scenery: &Scenery, report: &mut StoreReport) -> Result<()> {
    let delete = format!(
        "DELETE FROM links WHERE id = ANY ({}) AND account_id = '{}' RETURNING id;",
        ids(),
        scenery.stock.id
    );
    let body = body("redirect_ids");
    from_stock(
        stage,
        scenery,
        report,
        "bulk delete",
        &Script::new(delete),
        "/v1/redirects/bulk/delete",
        &body,
    )
}

/// Taking 100 links of such a stock out of their group.
pub(super) fn unassigning(stage: &Stage, scenery: &Scenery, report: &mut StoreReport) -> Result<()> {
    let update = format!(
        "UPDATE links SET group_id = NULL, updated_at = now() WHERE id = ANY ({}) AND account_id = '{}' RETURNING id;",
        ids(),
        scenery.stock.id
    );
    let (path, body) = (format!("{}/unassign", Scenery::group_of_stock()), body("link_ids"));
    from_stock(stage, scenery, report, "bulk unassign", &Script::new(update), &path, &body)
}

fn body(field: &str) -> String {
    let ids: Vec<String> = (0..100).map(|_| format!(r#""rdr_{PLACE}""#)).collect();
    format!(r#"{{"{field}":[{}]}}"#, ids.join(","))
}

fn from_stock(
    stage: &Stage,
    scenery: &Scenery,
    report: &mut StoreReport,
    what: &str,
    one: &Script,
    path: &str,
    body: &str,
) -> Result<()> {
    let caller = stage.caller(&scenery.stock);
    for (connections, requests) in [(1, report.requests_of_stock(1)), (8, report.requests_of_stock(6))] {
        let (until, links) = (Until::Requests(requests), u64::from(requests) * 100);
        let stocked = || {
            let first = stage.numbers(links);
            scenery.put_in_stock(stage, first, links).map(|()| first)
        };
        let mut contenders = [
            Contender::new(format!("{what}, {connections} conn.: one statement"), || {
                stage.pgbench(one, connections, until, stocked()?)
            }),
            Contender::new(format!("{what}, {connections} conn.: API"), || {
                let numbers = Numbers::Each { first: stocked()? };
                let load = Load { caller: &caller, connections, until, numbers };
                stage.load(&stage.program, &load, || {
                    Template::new(&caller, "POST", path, body).with_failures(NONE_FAILED)
                })
            }),
        ];
        take(&mut contenders, report.rounds())?;
        let [one, api] = &contenders;
        report.row(&Row::rates(
            format!("{what} of 100, {connections} connections"),
            one,
            api,
            Goal::AtLeast(0.60),
        ));
        report.contenders(&contenders);
    }
    Ok(())
}
