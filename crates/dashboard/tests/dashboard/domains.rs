//! Custom domains (D37 to D43, D65, D73).

use std::time::Duration;

use signpost_domain::Role;

use crate::harness::{Answer, Browser, Dashboard, PASSWORD};

pub const HOST: &str = "go.customer.com";

/// Connects a domain, and returns the path of its page.
pub async fn connect(dashboard: &Dashboard, browser: &Browser, hostname: &str) -> String {
    let answer = browser.post(&dashboard.path("domains"), &[("hostname", hostname)]).await;
    dashboard.path(&format!("domains/{}", answer.followed_id()))
}

/// The value of the `TXT` record on a domain's page.
pub fn proof_on(page: &Answer) -> String {
    let (_, rest) = page.body.split_once("signpost-verification=").unwrap();
    format!("signpost-verification={}", rest.split('<').next().unwrap())
}

pub async fn check(browser: &Browser, path: &str) -> Answer {
    let answer = browser.post(&format!("{path}/verify"), &[]).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    browser.get(answer.location()).await
}

#[actix_web::test]
async fn d42_a_domain_goes_into_service_from_its_page() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    let page = editor.get(&path).await;
    for part in
        ["Waiting for DNS", "CNAME", "_signpost.go.customer.com", "edge.example.net", "Not checked yet"]
    {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let dns = &dashboard.memory.dns;
    dns.set_texts(&format!("_signpost.{HOST}"), [proof_on(&page)]);
    let half = check(&editor, &path).await;
    assert!(half.body.contains("Checked: 1 of 2 records are missing or wrong."), "{}", half.body);
    let waiting = editor.get(&dashboard.path("domains")).await.body;
    assert!(!waiting.contains("analytics?domain="), "{waiting}");
    assert!(half.body.contains("Missing") && half.body.contains("Waiting for DNS"), "{}", half.body);
    dns.set_alias(HOST, "edge.example.net");
    let whole = check(&editor, &path).await;
    assert!(whole.body.contains("Links on this domain open."), "{}", whole.body);
    assert_eq!(whole.body.matches(">Found<").count(), 2, "{}", whole.body);
    let list = editor.get(&dashboard.path("domains")).await;
    assert!(list.body.contains("2 of 2 records found") && list.body.contains(">Active<"), "{}", list.body);
    let statistics = format!("{}?domain={HOST}", dashboard.path("analytics"));
    let link = format!("<a href=\"{statistics}\" aria-label=\"Statistics of {HOST}\">Statistics</a>");
    assert!(list.body.contains(&link), "{}", list.body);
    let statistics = editor.get(&statistics).await.body;
    assert!(statistics.contains(&format!("Statistics of {HOST}")), "{statistics}");
    // The history has the way there, newest first.
    let history = whole.body.split_once("History").unwrap().1;
    let [active, waiting] = ["<div>Active", "<div>Waiting for DNS"].map(|state| history.find(state).unwrap());
    assert!(active < waiting, "{history}");
}

#[actix_web::test]
async fn d65_mistakes_are_named_beside_what_was_expected_and_seen() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    let proof = proof_on(&editor.get(&path).await);
    let dns = &dashboard.memory.dns;
    dns.set_addresses(HOST, ["203.0.113.9".parse().unwrap()]);
    dns.set_texts(HOST, [proof.clone()]);
    let page = check(&editor, &path).await.body;
    for part in [
        "<code><bdi>203.0.113.9</bdi></code>",
        "<code>go.customer.com</code> leads to another server",
        "enter <code>_signpost.go</code> as the name",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    dns.set_addresses(HOST, ["104.16.9.9".parse().unwrap()]);
    let page = check(&editor, &path).await.body;
    assert!(page.contains("turn the proxy off"), "{page}");
    let name = "_signpost.go.customer.com";
    for (value, advice) in [
        (&proof[..40], "The value in DNS lacks its end: copy the whole value"),
        (&proof.to_uppercase(), "has other capital letters: enter it in small letters"),
    ] {
        dns.set_texts(name, [value]);
        let page = check(&editor, &path).await.body;
        assert!(page.contains(advice) && page.contains(&format!("<bdi>{value}</bdi>")), "{advice}: {page}");
    }
    dns.remove(HOST);
    dns.set_alias(name, "edge.example.net");
    let page = check(&editor, &path).await.body;
    for part in
        ["<code>_signpost.go.customer.com</code> is an alias", "<code><bdi>edge.example.net</bdi></code>"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[actix_web::test]
async fn d65_values_that_no_mistake_explains_are_explained_as_well() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    let dns = &dashboard.memory.dns;
    let name = format!("_signpost.{HOST}");
    let (wrong, some) = ("Add this record beside the others, which may stay.", "there may be more");
    for count in [4, 5, 6] {
        dns.set_texts(&name, (0..count).map(|number| format!("v=other{number}")));
        let page = check(&editor, &path).await.body;
        assert!(page.contains(wrong), "{count}: {page}");
        assert_eq!(page.contains(some), count >= 5, "{count}: {page}");
    }
    // Providers that flatten an alias answer with the addresses of its target.
    let address = "198.51.100.1".parse().unwrap();
    dns.set_addresses("edge.example.net", [address]);
    dns.set_addresses(HOST, [address]);
    let flattened = "All of them lead here, so they count as well.";
    let page = check(&editor, &path).await.body;
    assert!(page.contains(flattened) && page.contains("<code><bdi>198.51.100.1</bdi></code>"), "{page}");
    dns.set_alias(HOST, "edge.example.net");
    let page = check(&editor, &path).await.body;
    assert!(!page.contains(flattened) && page.contains(">Found<"), "{page}");
}

#[actix_web::test]
async fn d65_a_domain_in_service_that_leads_elsewhere_is_not_called_active() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    let dns = &dashboard.memory.dns;
    dns.set_texts(&format!("_signpost.{HOST}"), [proof_on(&editor.get(&path).await)]);
    dns.set_alias(HOST, "edge.example.net");
    let states = async || {
        let list = editor.get(&dashboard.path("domains")).await.body;
        [list, editor.get(&path).await.body].map(|page| {
            let (_, state) = page.split_once("<b class=\"tag").expect("a state");
            state.split('<').next().expect("its words").to_owned()
        })
    };
    check(&editor, &path).await;
    assert_eq!(states().await, [" on\">Active"; 2]);
    dns.set_alias(HOST, "elsewhere.example.org");
    check(&editor, &path).await;
    assert_eq!(states().await, [" del\">Leads elsewhere"; 2]);
    assert!(editor.get(&path).await.body.contains("its links stop opening"));
    dns.set_alias(HOST, "edge.example.net");
    check(&editor, &path).await;
    assert_eq!(states().await, [" on\">Active"; 2]);
}

#[actix_web::test]
async fn d42_without_an_answer_of_dns_the_page_says_so_and_nothing_changes() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    dashboard.memory.dns.set_unavailable(true);
    let answer = editor.post(&format!("{path}/verify"), &[]).await;
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains("DNS gave no answer"), "{}", answer.body);
    assert!(answer.body.contains("Not checked yet"), "{}", answer.body);
}

#[actix_web::test]
async fn d40_a_failed_domain_says_why_and_starts_over() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    dashboard.memory.clock.advance(Duration::from_hours(72));
    editor.sign_in("editor@example.com", PASSWORD).await;
    let page = editor.get(&path).await.body;
    assert!(page.contains("The records were not found in time.") && page.contains("Try again"), "{page}");
    assert!(page.contains("<div>Failed: The records were not found in time."), "{page}");
    let again = check(&editor, &path).await.body;
    assert!(again.contains("Waiting for DNS") && again.contains("Check now"), "{again}");
}

#[actix_web::test]
async fn d73_deleting_a_domain_says_what_is_lost_and_needs_a_confirmed_password() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    dashboard.memory.dns.set_alias(HOST, "edge.example.net");
    let proof = proof_on(&editor.get(&path).await);
    dashboard.memory.dns.set_texts(&format!("_signpost.{HOST}"), [proof]);
    check(&editor, &path).await;
    assert!(editor.get(&path).await.body.contains("No link has an address on this domain."));
    for slug in ["a", "b"] {
        let form = [
            ("kind", "redirect"),
            ("target_url", "https://example.com/"),
            ("domain", HOST),
            ("slug", slug),
            ("is_active", "on"),
        ];
        assert_eq!(editor.post(&dashboard.path("links"), &form).await.status, 303);
    }
    let page = editor.get(&path).await.body;
    assert!(page.contains("2 links lose their addresses"), "{page}");
    assert!(page.contains(&format!("{}?domain={HOST}\">2 links</a>", dashboard.path("links"))), "{page}");
    dashboard.memory.clock.advance(Duration::from_mins(16));
    let delete = format!("{path}/delete");
    let asked = editor.post(&delete, &[]).await;
    assert!(asked.location().starts_with("/confirm?next="), "{}", asked.location());
    // Afterwards the deletion is open again.
    assert!(!page.contains("<details class=\"sure\" open>"), "{page}");
    let (_, query) = asked.location().split_once('?').unwrap();
    let (_, next) = url::form_urlencoded::parse(query.as_bytes()).next().unwrap();
    let confirmed = editor.post("/confirm", &[("password", PASSWORD), ("next", &next)]).await;
    let again = editor.get(confirmed.location()).await.body;
    assert!(again.contains("<details class=\"sure\" open>"), "{again}");
    let deleted = editor.post(&delete, &[]).await;
    assert_eq!(deleted.location(), format!("{}?said=domain-deleted", dashboard.path("domains")));
    assert_eq!(editor.get(&path).await.status, 404);
}

#[actix_web::test]
async fn d37_a_refused_hostname_stays_in_the_form_with_the_reason() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    let stranger = dashboard.invited("s@example.com", Some((elsewhere, Role::Owner)), false).await;
    let theirs = stranger.post(&format!("/{elsewhere}/domains"), &[("hostname", "taken.customer.com")]).await;
    assert_eq!(theirs.status, 303);
    for (hostname, reason) in [
        ("localhost", "two labels"),
        ("", "empty"),
        ("taken.customer.com", "Another account has connected this hostname"),
        ("edge.example.net", "belongs to the service"),
    ] {
        let answer = editor.post(&dashboard.path("domains"), &[("hostname", hostname)]).await;
        assert_eq!(answer.status, 422, "{hostname}");
        let has_both = answer.body.contains(reason) && answer.body.contains(&format!("value=\"{hostname}\""));
        assert!(has_both, "{hostname}: {}", answer.body);
    }
    // The record that would prove it can be copied, and prose has no marks of code in it.
    let taken = editor.post(&dashboard.path("domains"), &[("hostname", "taken.customer.com")]).await;
    let proof = proof_on(&taken);
    for part in [
        "<h2>TXT</h2>",
        "<code>_signpost.taken.customer.com</code>",
        "data-copy=\"_signpost.taken.customer.com\"",
        &format!("<code>{proof}</code>"),
        &format!("data-copy=\"{proof}\""),
    ] {
        assert!(taken.body.contains(part), "{part}: {}", taken.body);
    }
    assert!(!taken.body.contains('`'), "{}", taken.body);
    let special = editor.post(&dashboard.path("domains"), &[("hostname", "shop.test")]).await;
    assert!(special.body.contains("<code>test</code>") && !special.body.contains('`'), "{}", special.body);
    // The same hostname again is the same domain (D40).
    let first = connect(&dashboard, &editor, HOST).await;
    for typed in [
        "GO.customer.com.",
        "https://go.customer.com/",
        " HTTP://Go.Customer.com./ ",
        "https://go.customer.com/a",
    ] {
        assert_eq!(connect(&dashboard, &editor, typed).await, first, "{typed}");
    }
    let with_port = "https://go.customer.com:8443/";
    let refused = editor.post(&dashboard.path("domains"), &[("hostname", with_port)]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains(&format!("value=\"{with_port}\"")), "{}", refused.body);
    let of_theirs = theirs.followed_id();
    assert_eq!(editor.get(&dashboard.path(&format!("domains/{of_theirs}"))).await.status, 404);
    let verify = dashboard.path(&format!("domains/{of_theirs}/verify"));
    assert_eq!(editor.post(&verify, &[]).await.status, 404);
}

#[actix_web::test]
async fn d15_a_plan_without_domains_says_so() {
    let dashboard = Dashboard::start().await;
    let free = dashboard.account("free@example.com", "free").await;
    let owner = dashboard.invited("owner@example.com", Some((free, Role::Owner)), false).await;
    let path = format!("/{free}/domains");
    let page = owner.get(&path).await.body;
    assert!(
        page.contains("Your plan has no custom domains.") && !page.contains("name=\"hostname\""),
        "{page}"
    );
    let answer = owner.post(&path, &[("hostname", HOST)]).await;
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains("custom_domains"), "{}", answer.body);
}
