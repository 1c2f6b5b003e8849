//! Pages of 25 items of short and long lists.

use anyhow::{Context as _, Result};

use super::load::Template;
use super::report::{Row, StoreReport};
use super::scenery::{LINKS_OF_SMALL, Scenery, text_at};
use super::stage::{Account, Stage};
use super::statements::{script, sent_during};
use super::turns::{Contender, take};
use crate::connection::ApiClient;
use crate::figure::Goal;
use crate::pgbench::Script;

const CONNECTIONS: u32 = 8;

/// A page, and its statement.
struct Page {
    name: String,
    links: u64,
    caller: ApiClient,
    path: String,
    same: Script,
    planned_once: Script,
}

/// The first and last page of links of three accounts.
pub(super) fn of_links(stage: &Stage, scenery: &Scenery, report: &mut StoreReport) -> Result<()> {
    let Scenery { small, middle, links_of_middle, large, links_of_large, .. } = scenery;
    let mut pages = Vec::new();
    for (account, links) in [(small, LINKS_OF_SMALL), (middle, *links_of_middle), (large, *links_of_large)] {
        pages.extend(first_and_last(stage, account, links)?);
    }
    if let Some(page) = pages.last() {
        report.statements("last page", &page.same);
    }
    let until = report.turn();
    let pgbench = |script: &Script| stage.pgbench(script, CONNECTIONS, until, stage.numbers(1));
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    for Page { name, caller, path, same, planned_once, .. } in &pages {
        contenders.push(Contender::new(format!("{name}: same statement"), || pgbench(same)));
        contenders.push(Contender::new(format!("{name}: same, planned once"), || pgbench(planned_once)));
        contenders.push(Contender::new(format!("{name}: API"), || {
            stage.requests(caller, CONNECTIONS, until, || Template::new(caller, "GET", path, ""))
        }));
    }
    take(&mut contenders, report.rounds())?;
    let (turns, _) = contenders.as_chunks::<3>();
    for ([same, planned_once, api], Page { name, links, .. }) in turns.iter().zip(&pages) {
        let goal = if links == links_of_large { Goal::AtLeast(0.35) } else { Goal::None };
        report.row(&Row::rates(format!("{name}, to its statement"), same, api, goal));
        report.row(&Row::rates(
            format!("{name}, to its statement planned once"),
            planned_once,
            api,
            Goal::None,
        ));
    }
    let of = |index: usize| turns.get(index).map(|[_, _, api]| api).context("a page is missing");
    let mut compare = |page: &str, other: &str, reference, ours| {
        let name = format!("{page} page of {links_of_large}, to the {other}");
        report.row(&Row::latencies(name, reference, ours, Goal::AtMost(1.15)));
    };
    compare("last", "first", of(4)?, of(5)?);
    compare("first", "first of 1000", of(0)?, of(4)?);
    compare("last", "last of 1000", of(1)?, of(5)?);
    report.contenders(&contenders);
    Ok(())
}

fn first_and_last(stage: &Stage, account: &Account, links: u64) -> Result<[Page; 2]> {
    let caller = stage.caller(account);
    let page = |name: &str, path: String| {
        let mut connection = caller.connect()?;
        let request = caller.request("GET", &path, "");
        // Warm up, so that every database connection has its prepared statements.
        for _ in 0..32 {
            connection.send(&request)?;
        }
        let mut statements = sent_during(&stage.postgres, || connection.send(&request).map(|_| ()))?;
        statements.retain(|statement| statement.reads("links"));
        let same = script(&stage.postgres, &statements, |_| None)?;
        let (name, planned_once) = (format!("{name} page of {links}"), same.clone().planned_once());
        anyhow::Ok(Page { name, links, caller: caller.clone(), path, same, planned_once })
    };
    let last = last_page(&caller, links)?;
    Ok([page("first", "/v1/redirects?limit=25".to_owned())?, page("last", last)?])
}

/// Walks to the last page, and returns its path.
fn last_page(caller: &ApiClient, links: u64) -> Result<String> {
    let mut connection = caller.connect()?;
    let (mut left, mut cursor) = (links, String::new());
    loop {
        let limit = if left > 125 { 100 } else { 25 };
        let path = format!("/v1/redirects?limit={limit}{cursor}");
        if left <= 25 {
            return Ok(path);
        }
        let answer = connection.send(&caller.request("GET", &path, ""))?;
        cursor = format!("&cursor={}", text_at(answer, "/pagination/next_cursor")?);
        left -= limit;
    }
}

/// The groups of an account without links in them, and of one with all its links in its groups.
pub(super) fn of_groups(stage: &Stage, scenery: &Scenery, report: &mut StoreReport) -> Result<()> {
    let until = report.turn();
    let [empty, full] = [&scenery.small, &scenery.middle].map(|account| stage.caller(account));
    let round = |caller| {
        stage.requests(caller, CONNECTIONS, until, || Template::new(caller, "GET", "/v1/groups?limit=25", ""))
    };
    let mut contenders = [
        Contender::new("25 groups: API, without links", || round(&empty)),
        Contender::new(format!("25 groups: API, with {} links", scenery.links_of_middle), || round(&full)),
    ];
    take(&mut contenders, report.rounds())?;
    let [empty, full] = &contenders;
    report.row(&Row::latencies(
        format!("25 groups with {} links, to groups without", scenery.links_of_middle),
        empty,
        full,
        Goal::AtMost(1.15),
    ));
    report.contenders(&contenders);
    Ok(())
}
