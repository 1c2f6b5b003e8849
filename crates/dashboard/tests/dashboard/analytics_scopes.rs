//! Statistics of a group and of a domain say whose they are (D45).

use std::time::Duration;

use signpost_domain::Role;
use signpost_domain::analytics::RecordedKind;

use crate::analytics::record;
use crate::harness::{Answer, Browser, Dashboard};

const HOST: &str = "go.customer.com";

/// Makes a group, and returns its id.
async fn group(editor: &Browser, name: &str) -> String {
    let path = editor.dashboard.path("groups");
    assert_eq!(editor.post(&path, &[("name", name)]).await.status, 303);
    let page = editor.get(&path).await.body;
    let row = page.split("<li>").find(|row| row.contains(name)).unwrap();
    format!("grp_{}", row.split("group=grp_").nth(1).unwrap().get(..32).unwrap())
}

/// Puts [`HOST`] into service.
async fn connect(editor: &Browser) {
    let dashboard = &editor.dashboard;
    let id = editor.post(&dashboard.path("domains"), &[("hostname", HOST)]).await.followed_id();
    let path = dashboard.path(&format!("domains/{id}"));
    let page = editor.get(&path).await.body;
    let proof = page.split_once("signpost-verification=").unwrap().1.split('<').next().unwrap();
    dashboard.memory.dns.set_texts(&format!("_signpost.{HOST}"), [format!("signpost-verification={proof}")]);
    dashboard.memory.dns.set_alias(HOST, "edge.example.net");
    assert_eq!(editor.post(&format!("{path}/verify"), &[]).await.status, 303);
}

/// Makes a link with this many clicks.
async fn clicked(editor: &Browser, placement: &[(&str, &str)], clicks: u8) {
    let dashboard = &editor.dashboard;
    let mut form =
        vec![("kind", "redirect"), ("target_url", "https://example.com/"), ("analytics_enabled", "on")];
    form.extend_from_slice(placement);
    let id = editor.post(&dashboard.path("links"), &form).await.followed_id();
    let at = dashboard.app.clock.now();
    for visitor in 0..clicks {
        record(dashboard, &id, at, RecordedKind::Click, visitor, "DE", "");
    }
}

/// The clicks of a page.
fn clicks(page: &Answer) -> &str {
    page.body.split_once("<b class=\"big\">").unwrap().1.split('<').next().unwrap()
}

/// The labels of the tags that each remove a filter.
fn tags(page: &Answer) -> Vec<(String, String)> {
    let tags = page.body.split("<a class=\"b\" href=\"?").skip(1);
    tags.map(|tag| {
        let (query, rest) = tag.split_once('"').unwrap();
        let label = rest.split_once("<bdi>").unwrap().1.split('<').next().unwrap();
        (label.to_owned(), query.to_owned())
    })
    .collect()
}

#[actix_web::test]
async fn d45_statistics_of_a_group_or_domain_say_whose_they_are() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    connect(&editor).await;
    let spring = group(&editor, "Spring sale").await;
    let quiet = group(&editor, "\u{2026}").await;
    clicked(&editor, &[("group_id", &spring)], 3).await;
    clicked(&editor, &[("group_id", &spring), ("domain", HOST), ("slug", "both")], 5).await;
    clicked(&editor, &[("domain", HOST), ("slug", "alone")], 7).await;
    dashboard.memory.clock.advance(Duration::from_mins(2));
    let day = "2026-";
    let both = format!("group={spring}&domain={HOST}");
    let (in_group, on_domain) = (format!("group={spring}"), format!("domain={HOST}"));
    for (query, title, count, named, expected) in [
        ("", "Statistics", "15", "", vec![]),
        (
            &*in_group,
            "Statistics of the group Spring sale",
            "8",
            "-spring-sale",
            vec![("Group: Spring sale", "")],
        ),
        (
            &*on_domain,
            "Statistics of go.customer.com",
            "12",
            "-go-customer-com",
            vec![("Domain: go.customer.com", "")],
        ),
        (
            &*both,
            "Statistics of the group Spring sale on go.customer.com",
            "5",
            "-spring-sale-go-customer-com",
            vec![("Group: Spring sale", &*on_domain), ("Domain: go.customer.com", &*in_group)],
        ),
        (
            "group=none",
            "Statistics of links without a group",
            "7",
            "-without-group",
            vec![("Group: Without group", "")],
        ),
    ] {
        let page = editor.get(&dashboard.path(&format!("analytics?{query}"))).await;
        assert_eq!(clicks(&page), count, "{query}: {}", page.body);
        for part in [format!("<title>{title} · "), format!("<h1><bdi>{title}</bdi></h1>")] {
            assert!(page.body.contains(&part), "{part}: {}", page.body);
        }
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(label, query): (&str, &str)| (label.to_owned(), query.to_owned()))
            .collect();
        assert_eq!(tags(&page), expected, "{query}");
        let csv = editor.get(&dashboard.path(&format!("analytics.csv?{query}"))).await;
        let name = csv.header("content-disposition");
        let beginning = format!("attachment; filename=\"statistics-team-example-com{named}-{day}");
        assert!(name.starts_with(&beginning), "{query}: {name}");
        assert!(csv.body.contains(&format!("\r\ntotal,,{count},")), "{query}: {}", csv.body);
        let filters = csv.body.lines().filter(|line| line.starts_with("filter,")).count();
        assert_eq!(filters, expected.len(), "{query}: {}", csv.body);
    }
    // A name without letters is replaced by the id.
    let csv = editor.get(&dashboard.path(&format!("analytics.csv?group={quiet}"))).await;
    assert!(csv.header("content-disposition").contains(&format!("-{quiet}-2026-")), "{csv:?}");
    // A domain is chosen from a list, which keeps one that the account does not have.
    for host in [HOST, "other.example"] {
        let page = editor.get(&dashboard.path(&format!("analytics?domain={host}"))).await;
        for option in
            [format!("<option value=\"{host}\" selected>{host}"), format!("<option value=\"{HOST}\"")]
        {
            assert!(page.body.contains(&option), "{option}: {}", page.body);
        }
    }
    // All filters go at once.
    let all = editor.get(&dashboard.path(&format!("analytics?{both}&country=DE"))).await;
    assert!(all.body.contains("<a href=\"?\">Remove all</a>"), "{}", all.body);
}
