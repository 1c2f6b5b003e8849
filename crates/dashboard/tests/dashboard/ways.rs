//! How redirects send their visitors on: their form and their page (D132).

use signpost_domain::{RedirectStatus, Role, Utm, UtmPart, UtmValue, Way};

use crate::edits::link;
use crate::harness::{Answer, Dashboard};
use crate::life::{create, fields, input, page_of, save, value};

/// A form that asks for nothing but the target.
const PLAIN: [(&str, &str); 6] = [
    ("redirect_status", "302"),
    ("utm_source", ""),
    ("utm_medium", ""),
    ("utm_campaign", " "),
    ("utm_term", ""),
    ("utm_content", ""),
];

async fn way(dashboard: &Dashboard, id: &str) -> Way {
    link(dashboard, id).await.into_redirect().unwrap().content.way
}

/// The form of a redirect to another target than that of the other tests.
fn with_target<'a>(target: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut form = fields("redirect", "one", more);
    form.retain(|(name, _)| *name != "target_url");
    form.push(("target_url", target));
    form
}

/// Whether a form has this choice of a status.
fn chooses(page: &Answer, status: &str) -> bool {
    page.body.contains(&format!("<option value=\"{status}\" selected>"))
}

#[actix_web::test]
async fn d132_the_form_of_a_redirect_takes_how_its_visitors_are_sent_on() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let new = editor.get(&dashboard.path("links/new")).await;
    assert!(chooses(&new, "302") && new.body.contains("><summary>How visitors"), "{}", new.body);
    assert!(!new.body.contains(" open><summary>How visitors"), "{}", new.body);
    let typed = [
        ("redirect_status", "307"),
        ("forward_query", "true"),
        ("utm_source", " newsletter "),
        ("utm_medium", ""),
        ("utm_campaign", "Autumn & sale"),
    ];
    let id = create(&editor, "redirect", "one", &typed).await.followed_id();
    let made = link(&dashboard, &id).await;
    let utm = Utm::new(|part| match part {
        UtmPart::Source => UtmValue::parse("newsletter").ok(),
        UtmPart::Campaign => UtmValue::parse("Autumn & sale").ok(),
        UtmPart::Medium | UtmPart::Term | UtmPart::Content => None,
    });
    let expected = Way { redirect_status: RedirectStatus::TemporaryRedirect, forward_query: true, utm };
    assert_eq!(way(&dashboard, &id).await, expected);
    let page = page_of(&editor, &id).await;
    assert!(chooses(&page, "307"), "{}", page.body);
    assert_eq!(["utm_source", "utm_term"].map(|name| value(&page, name)), ["newsletter", ""]);
    for part in [
        " open><summary>How visitors",
        "name=\"forward_query\" value=\"true\" checked",
        "value=\"Autumn &#38; sale\"",
        "<dt>Leads to</dt><dd><bdi>https://example.com/?utm_source=newsletter&#38;utm_campaign=Autumn%20%26%20sale</bdi>",
        "&#34;redirect_status&#34;:307,&#34;forward_query&#34;:true,&#34;utm&#34;:{&#34;source&#34;:&#34;newsletter&#34;,\
         &#34;campaign&#34;:&#34;Autumn &#38; sale&#34;}",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    // Saved as it was shown, and by a form of the version before.
    for kept in [&typed[..], &[]] {
        assert_eq!(save(&editor, &id, "one", kept).await.status, 303);
        assert_eq!(link(&dashboard, &id).await, made, "{kept:?}");
    }
    assert_eq!(save(&editor, &id, "one", &PLAIN).await.status, 303);
    assert_eq!(way(&dashboard, &id).await, Way::default());
    let page = page_of(&editor, &id).await.body;
    for part in ["Leads to", "redirect_status&#34;", "forward_query&#34;", "utm&#34;"] {
        assert!(!page.contains(part), "{part}: {page}");
    }
    let landing = editor.get(&dashboard.path("links/new?kind=landing")).await.body;
    assert!(!landing.contains("redirect_status") && !landing.contains("utm_source"), "{landing}");
}

#[actix_web::test]
async fn d132_a_permanent_status_beside_a_gate_is_blamed_on_the_status() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "kept", &[("redirect_status", "301")]).await.followed_id();
    for (gate, label) in [
        (("starts_at", "2026-03-01T09:00"), "Start"),
        (("expires_at", "2026-03-01T09:00"), "End"),
        (("max_clicks", "5"), "Most clicks"),
        (("antibot_enabled", "true"), "Turn bots away"),
        (("countries", "DE"), "Blocked countries"),
    ] {
        let refusals = [
            ("301", create(&editor, "redirect", "one", &[("redirect_status", "301"), gate]).await),
            ("308", create(&editor, "redirect", "one", &[("redirect_status", "308"), gate]).await),
            // The redirect has the status, and only the gate is new.
            ("301", save(&editor, &id, "kept", &[gate]).await),
        ];
        for (status, refused) in refusals {
            assert_eq!(refused.status, 422, "{gate:?}");
            let message = format!(
                "id=\"e-redirect_status\">Must be 302 or 307 beside “{label}”: browsers keep a {status} and would not ask again."
            );
            assert!(refused.body.contains(&message), "{message}: {}", refused.body);
            assert_eq!(refused.body.matches("aria-invalid").count(), 1, "{}", refused.body);
            assert!(chooses(&refused, status), "{}", refused.body);
            assert!(refused.body.contains(" open><summary>How visitors"), "{}", refused.body);
        }
    }
    // Both at once are allowed.
    let changed = [("redirect_status", "307"), ("max_clicks", "5")];
    assert_eq!(save(&editor, &id, "kept", &changed).await.status, 303);
}

#[actix_web::test]
async fn d132_what_is_refused_is_blamed_on_its_field_and_kept() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let long = "x".repeat(256);
    for (name, typed, reason) in [
        ("utm_source", long.as_str(), "Must have at most 255 characters."),
        ("utm_content", "a\u{1}b", "Must not contain control characters."),
    ] {
        let refused = create(&editor, "redirect", "one", &[(name, typed)]).await;
        assert_eq!(refused.status, 422, "{name}");
        assert!(input(&refused, name).contains("aria-invalid"), "{}", refused.body);
        assert_eq!(refused.body.matches("aria-invalid").count(), 1, "{}", refused.body);
        assert_eq!(value(&refused, name), typed);
        assert!(refused.body.contains(&format!("id=\"e-{name}\">{reason}")), "{}", refused.body);
    }
    for wrong in ["200", "permanent", ""] {
        let refused = create(&editor, "redirect", "one", &[("redirect_status", wrong)]).await;
        assert_eq!(refused.status, 422, "{wrong}");
        let message = "id=\"e-redirect_status\">Must be 301, 302, 307 or 308.";
        assert!(refused.body.contains(message) && chooses(&refused, "302"), "{}", refused.body);
    }
}

#[actix_web::test]
async fn d132_parameters_that_make_the_location_too_long_are_blamed_together() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let (target, parameter) = (format!("https://example.com/{}", "x".repeat(2_000)), "ä".repeat(255));
    let utm = [("utm_source", parameter.as_str()), ("utm_term", parameter.as_str())];
    let message = "Must not make a target longer than 4096 bytes.";
    let refused = editor.post(&dashboard.path("links"), &with_target(&target, &utm)).await;
    assert!(refused.body.contains(&format!("id=\"e-utm\">{message}")), "{}", refused.body);
    assert!(refused.body.contains("<a href=\"#f-utm\">Campaign</a>"), "{}", refused.body);
    assert_eq!(value(&refused, "utm_term"), parameter);
    // They are as they were, so only the new target is to blame.
    let id = create(&editor, "redirect", "one", &utm).await.followed_id();
    let revision = page_of(&editor, &id).await.hidden("revision");
    let mut form = with_target(&target, &utm);
    form.push(("revision", &revision));
    let refused = editor.post(&dashboard.path(&format!("links/{id}")), &form).await;
    assert_eq!(refused.status, 422);
    let message = "Must have at most 4096 bytes with the parameters of “Campaign”.";
    assert!(refused.body.contains(&format!("id=\"e-target_url\">{message}")), "{}", refused.body);
    assert!(!refused.body.contains("id=\"e-utm\""), "{}", refused.body);
}

#[actix_web::test]
async fn d120_d132_a_stale_edit_shows_both_ways() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &PLAIN).await.followed_id();
    let revision = page_of(&editor, &id).await.hidden("revision");
    let theirs = [("redirect_status", "307"), ("forward_query", "true"), ("utm_source", "theirs")];
    assert_eq!(save(&editor, &id, "one", &theirs).await.status, 303);
    let mine = [("redirect_status", "308"), ("utm_source", "mine"), ("revision", &revision)];
    let stale = editor.post(&dashboard.path(&format!("links/{id}")), &fields("", "one", &mine)).await;
    assert_eq!(stale.status, 409, "{}", stale.body);
    for (label, yours, stored) in [
        ("Redirect status", "308, permanent, keeps the method", "307, temporary, keeps the method"),
        ("Pass on parameters", "Inactive", "Active"),
        ("Source", "mine", "theirs"),
    ] {
        let (_, rest) = stale.body.split_once(&format!("<h3>{label}</h3>")).unwrap();
        let both = rest.split("</div>").next().unwrap();
        assert!(both.contains(&format!("<bdi>{yours}</bdi>")), "{yours}: {both}");
        assert!(both.contains(&format!("<bdi>{stored}</bdi>")), "{stored}: {both}");
    }
    assert!(chooses(&stale, "308") && value(&stale, "utm_source") == "mine", "{}", stale.body);
}
