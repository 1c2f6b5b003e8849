//! The health page, with every part that can fail (D63, D69).

use signpost_app::node_health::Part;

use crate::harness::Dashboard;
use crate::operator_accounts::operator;

/// An error stays on the page after the part works again, and each stands at its own part.
#[actix_web::test]
async fn d69_the_health_page_has_the_error_of_every_part_that_this_node_has() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let (health, now) = (&dashboard.app.health, dashboard.app.clock.now());
    let parts = Part::SERVICES.into_iter().chain([Part::Job("check-domains")]);
    for (number, part) in parts.enumerate() {
        health.fails_with(part, now, &format!("cause {number}"));
    }
    let page = operator.get("/operator/health").await.body;
    for (number, name) in [
        "Database, reading",
        "Database, writing",
        // This node has neither Redis nor an authority, for which it would need the secrets key.
        "",
        "Change log",
        "Click store",
        "Spool of clicks",
        "Name servers",
        "",
        "",
        "check-domains",
    ]
    .into_iter()
    .enumerate()
    {
        let cause = format!("<bdi>cause {number}</bdi>");
        if name.is_empty() {
            assert!(!page.contains(&cause), "{number}: {page}");
            continue;
        }
        // The list of nodes, if there is one, comes before.
        let (before, _) = page.rsplit_once(&cause).unwrap_or_else(|| panic!("{name}: {page}"));
        let (_, row) = before.rsplit_once("<li>").unwrap();
        assert!(row.contains(&format!("<b class=\"name\">{name}</b>")), "{name}: {row}");
    }
}
