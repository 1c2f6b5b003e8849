//! The time until visitors see the change of a PATCH.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::contender::microseconds;
use super::on_postgres::Links;
use super::stage::Stage;
use crate::connection::Connection;
use crate::figure::Figure;

/// The number of changes; one at the smallest size.
const CHANGES: u32 = 50;

/// The time limit for the other node.
const PATIENCE: Duration = Duration::from_secs(10);

/// Two nodes have a link in memory, and one of them changes its target.
pub(super) fn of_changes(stage: &mut Stage) -> Result<()> {
    let links = Links::of(stage)?;
    let (own, other) = (links.start()?, links.start_another()?);
    let caller = links.caller(&own);
    let mut api = caller.connect()?;
    let target = |change: u32| format!("https://example.com/changes/{change}");
    let link = json!({"name": "A link", "slug": "changed", "target_url": target(0)}).to_string();
    let link: Value = serde_json::from_slice(api.send(&caller.request("POST", "/v1/redirects", &link))?)?;
    let id = link.get("id").and_then(Value::as_str).context("a link without an id")?;
    let path = format!("/v1/redirects/{id}");
    let (mut at_own, mut at_other) = (Connection::open(&own.links)?, Connection::open(&other.links)?);
    ensure!(
        leads_to(&mut at_own, &target(0))? && leads_to(&mut at_other, &target(0))?,
        "the link is not there"
    );
    let mut times = Vec::new();
    let changes = if stage.load.seconds == 0 { 1 } else { CHANGES };
    for change in 1..=changes {
        let target = target(change);
        api.send(&caller.request("PATCH", &path, &json!({"target_url": target}).to_string()))?;
        let answered = Instant::now();
        ensure!(leads_to(&mut at_own, &target)?, "the node that made a change does not show it");
        while !leads_to(&mut at_other, &target)? {
            ensure!(answered.elapsed() < PATIENCE, "the other node does not learn of a change");
        }
        times.push(microseconds(answered.elapsed()) / 1e3);
    }
    drop((at_own, at_other));
    own.stop()?;
    other.stop()?;
    stage.on_postgres = Some(links);
    let longest = times.iter().copied().fold(0.0, f64::max);
    let median = Figure::of(times).median;
    stage.report.note(format!(
        "{changes} changes by PATCH: at once at the node that made them; at another after {median:.0} ms, {longest:.0} ms at most"
    ));
    Ok(())
}

fn leads_to(connection: &mut Connection, target: &str) -> Result<bool> {
    let answer = connection.exchange(b"GET /changed HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    Ok(answer
        .head()
        .lines()
        .any(|line| line.to_ascii_lowercase().starts_with("location:") && line.ends_with(target)))
}
