//! The account and its links before the first visit.

use signpost_app::accounts::{self, CreateAccount};
use signpost_app::ports::{LinkReads as _, Store as _};
use signpost_app::{Application, Operator, keys};
use signpost_domain::{
    AccountId, CountryCode, Email, Feature, FeatureSet, GeoBlocklist, Link, LinkId, Placement, Plan,
    PlanLimits, PlanName, Redirect, RequestBudget, WidgetBody, WidgetContent,
};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::visits::Gate;

/// The gates of the visited links. The last one is the landing page.
pub(crate) const GATES: [Gate; 5] = [
    Gate { antibot: false, blocks: None },
    Gate { antibot: false, blocks: None },
    Gate { antibot: true, blocks: None },
    Gate { antibot: false, blocks: Some("DE") },
    Gate { antibot: false, blocks: None },
];
/// The link that is deactivated halfway, and the one that loses its address after the last visit.
pub(crate) const DEACTIVATED: usize = 1;
pub(crate) const LOST: usize = 0;

pub(crate) const SLUGS: [&str; 5] = ["sale", "other", "people", "abroad", "menu"];

/// A plan that no test exhausts.
pub(crate) fn unlimited() -> Plan {
    Plan {
        name: PlanName::parse("unlimited").unwrap(),
        api_access: true,
        budget: RequestBudget { per_minute: u32::MAX, per_day: u32::MAX },
        limits: PlanLimits::UNLIMITED,
        features: Feature::ALL.into_iter().collect::<FeatureSet>(),
    }
}

/// An account on that plan, and its key.
pub(crate) async fn account(app: &Application) -> (AccountId, String) {
    let created = accounts::create(
        app,
        &Operator::COMMAND,
        CreateAccount {
            email: Email::parse("ada@example.com").unwrap(),
            name: None,
            plan: PlanName::parse("unlimited").unwrap(),
        },
    )
    .await
    .unwrap();
    let (_, secret) = keys::issue(app, created.id, None).await.unwrap();
    (created.id, secret.expose().to_owned())
}

/// Stores the links, and returns their ids and those of the landing page's widgets.
pub(crate) async fn links(memory: &InMemory, account: AccountId) -> (Vec<String>, Vec<String>) {
    let mut redirects: Vec<Redirect> = SLUGS[..4]
        .iter()
        .zip(GATES)
        .map(|(slug, Gate { antibot, blocks })| {
            let blocked = blocks.iter().map(|code| CountryCode::parse(code).unwrap()).collect();
            samples::redirect(slug).with(|content| {
                content.antibot_enabled = antibot;
                content.geo_blocklist = GeoBlocklist::new(blocked);
            })
        })
        .collect();
    let landing = samples::landing("menu");
    let content = samples::page_content();
    let mut ids: Vec<String> = redirects.iter().map(|redirect| redirect.id.to_string()).collect();
    ids.push(landing.id.to_string());
    redirects.push(Redirect { analytics_enabled: false, ..samples::redirect("unrecorded") });
    let mut all: Vec<Link> = redirects.into_iter().map(Into::into).collect();
    let page = landing.id;
    all.push(landing.into());
    let mut work = memory.store.begin().await.unwrap();
    work.insert_links(account, &all, 100).await.unwrap();
    work.write_page_content(account, page, &content).await.unwrap();
    work.commit().await.unwrap();
    // Widgets with a target: the link and the picture.
    let widgets = content.widgets.as_slice().iter().filter(|widget| {
        matches!(&widget.body, WidgetBody::Known(WidgetContent::Link { .. } | WidgetContent::Image { .. }))
    });
    (ids, widgets.map(|widget| widget.id.to_string()).collect())
}

/// Takes the address of a redirect away, as the end of its domain does (D43).
pub(crate) async fn lose(memory: &InMemory, account: AccountId, id: &str) {
    let id: LinkId = id.parse().unwrap();
    let before = memory.store.link(account, id).await.unwrap().unwrap();
    let placement = Placement::Lost { slug: before.placement.slug().cloned() };
    let after = Link { placement, ..before.clone() };
    let mut work = memory.store.begin().await.unwrap();
    work.lock_link(account, id).await.unwrap().unwrap();
    work.update_link(account, &before, &after).await.unwrap();
    work.commit().await.unwrap();
}
