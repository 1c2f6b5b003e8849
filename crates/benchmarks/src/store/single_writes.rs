//! Creating and updating single links.

use anyhow::{Result, ensure};

use super::load::{Load, Numbers, PLACE, Template, digits};
use super::report::{Row, StoreReport};
use super::scenery::{COLUMNS, LINK, Scenery, id_of, slug_of, text_at, uuid, values};
use super::stage::Stage;
use super::statements::{script, sent_during};
use super::turns::{Contender, Round, take};
use crate::figure::Goal;
use crate::pgbench::Script;
use crate::turns::Until;

/// Numbers for one run of `pgbench`.
const NUMBERS_OF_A_RUN: u64 = 1_000_000_000;

/// Creating one link, at 8 connections and at one.
pub(super) fn creation(stage: &Stage, scenery: &Scenery, report: &mut StoreReport) -> Result<()> {
    let caller = stage.caller(&scenery.writer);
    let request = caller.request("POST", "/v1/redirects", LINK);
    let mut connection = caller.connect()?;
    // Warm up, so that every database connection has its prepared statements.
    for _ in 0..32 {
        connection.send(&request)?;
    }
    let (mut id, mut slug) = (String::new(), String::new());
    let statements = sent_during(&stage.postgres, || {
        let answer = connection.send(&request)?;
        id = uuid(text_at(answer, "/id")?.trim_start_matches("rdr_"));
        slug = text_at(answer, "/slug")?;
        Ok(())
    })?;
    let same = script(&stage.postgres, &statements, |value| {
        if value == id { Some(id_of(":n")) } else { (value == slug).then(|| slug_of(":n")) }
    })?;
    ensure!(same.sql.contains(":n)::text, 32"), "no statement has the link's id: {}", same.sql);
    report.statements("create", &same);
    let bare = Script::new(format!(
        "INSERT INTO links ({COLUMNS}) VALUES ({}, '{}', {}, NULL) ON CONFLICT (host, slug) DO NOTHING RETURNING id;",
        id_of(":n"),
        scenery.writer.id,
        values(":n")
    ));
    compare(
        stage,
        report,
        ("create", Goal::AtLeast(0.60), Goal::AtMost(1.7)),
        &same,
        &bare,
        |connections, until| {
            let template = || Template::new(&caller, "POST", "/v1/redirects", LINK);
            let load = Load { caller: &caller, connections, until, numbers: Numbers::None };
            stage.load(&stage.program, &load, template)
        },
    )
}

/// Updating one link of up to 100,000, at 8 connections and at one.
pub(super) fn update(stage: &Stage, scenery: &Scenery, report: &mut StoreReport) -> Result<()> {
    let caller = stage.caller(&scenery.stock);
    let (first, count) = scenery.updated_links();
    let body = |new: &str| format!(r#"{{"target_url":"https://example.com/shop/winter/{new}"}}"#);
    let path = |digits: &str| format!("/v1/redirects/rdr_{digits}");
    let mut connection = caller.connect()?;
    let request = |number: u64| {
        let digits = digits(number);
        caller.request("PATCH", &path(&digits), &body(&digits))
    };
    for number in 0..32 {
        connection.send(&request(first + number))?;
    }
    let updated = first + count / 2;
    let (id, mut slug) = (uuid(&digits(updated)), String::new());
    let statements = sent_during(&stage.postgres, || {
        slug = text_at(connection.send(&request(updated))?, "/slug")?;
        Ok(())
    })?;
    let mut same = script(&stage.postgres, &statements, |value| {
        if value == id { Some(id_of(":link")) } else { (value == slug).then(|| slug_of(":link")) }
    })?;
    ensure!(same.sql.contains(":link)::text"), "no statement has the link's id: {}", same.sql);
    report.statements("update", &same);
    let any = format!("\\set link random({first}, {})\n", first + count - 1);
    same.sql.insert_str(0, &any);
    let bare = Script::new(format!(
        "{any}UPDATE links SET target_url = 'https://example.com/shop/spring/' || :link, updated_at = now() \
         WHERE id = {} AND account_id = '{}' RETURNING id, updated_at;",
        id_of(":link"),
        scenery.stock.id
    ));
    compare(
        stage,
        report,
        ("update", Goal::AtLeast(0.70), Goal::AtMost(1.5)),
        &same,
        &bare,
        |connections, until| {
            let template = || Template::new(&caller, "PATCH", &path(PLACE), &body(PLACE));
            let numbers = Numbers::AnyOf { first, count };
            stage.load(&stage.program, &Load { caller: &caller, connections, until, numbers }, template)
        },
    )
}

/// Compares the API with the same statements, and with a single equivalent statement. The goals apply to the same
/// statements: the rate at 8 connections and the latency at one.
fn compare(
    stage: &Stage,
    report: &mut StoreReport,
    (what, rate, latency): (&str, Goal, Goal),
    same: &Script,
    bare: &Script,
    api: impl Fn(u32, Until) -> Result<Round>,
) -> Result<()> {
    let until = report.turn();
    for connections in [8, 1] {
        let pgbench = |script| {
            let first = stage.numbers(NUMBERS_OF_A_RUN);
            stage.pgbench(script, connections, until, first)
        };
        let mut contenders = [
            Contender::new(format!("{what}, {connections} conn.: same statements"), || pgbench(same)),
            Contender::new(format!("{what}, {connections} conn.: API"), || api(connections, until)),
            Contender::new(format!("{what}, {connections} conn.: one statement"), || pgbench(bare)),
        ];
        take(&mut contenders, report.rounds())?;
        let [same, api, bare] = &contenders;
        if connections == 8 {
            report.row(&Row::rates(format!("{what}, 8 connections"), same, api, rate));
            report.row(&Row::rates(
                format!("{what}, 8 connections, to the one statement"),
                bare,
                api,
                Goal::None,
            ));
        } else {
            report.row(&Row::latencies(format!("{what}, 1 connection"), same, api, latency));
            report.row(&Row::latencies(
                format!("{what}, 1 connection, to the one statement"),
                bare,
                api,
                Goal::None,
            ));
        }
        report.contenders(&contenders);
    }
    Ok(())
}
