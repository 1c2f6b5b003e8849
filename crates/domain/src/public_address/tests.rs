use proptest::prelude::*;

use super::*;

fn system(origin: &str) -> SystemDomain {
    SystemDomain::new(origin, vec![host("alias.example"), host("[2001:db8::1]")]).unwrap()
}

fn host(text: &str) -> Hostname {
    Hostname::parse(text).unwrap()
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn target(text: &str) -> TargetUrl {
    TargetUrl::parse(text).unwrap()
}

#[test]
fn d61_the_system_url_is_an_origin() {
    for (given, origin) in [
        ("http://localhost:8081", "http://localhost:8081"),
        ("https://Go.Example.com./", "https://go.example.com"),
        ("https://go.example.com:443", "https://go.example.com"),
        ("http://go.example.com:443/", "http://go.example.com:443"),
        ("HTTP://127.0.0.1:80", "http://127.0.0.1"),
        ("http://[::1]:8081", "http://[::1]:8081"),
    ] {
        assert_eq!(system(given).origin(), origin, "{given}");
    }
    for given in [
        "",
        "localhost:8081",
        "//localhost",
        "ftp://localhost",
        "http://",
        "http://a/b",
        "http://a//",
        "http://a?",
        "http://a/?b",
        "http://a#",
        "http://u@a",
        "http://u:p@a",
        "http://a:x",
        "http://a:99999",
        "http://a_b.example",
        " http://a",
        "http://a ",
        "http://*.a",
    ] {
        let error = SystemDomain::new(given, vec![]).unwrap_err();
        assert_eq!(error.code(), ViolationCode::InvalidFormat, "{given:?}");
    }
}

#[test]
fn d22_addresses_on_the_system_domain_name_the_port_only_where_needed() {
    let slug = slug("Abc_-1");
    assert_eq!(system("http://localhost:8081/").url_of(&slug), "http://localhost:8081/Abc_-1");
    assert_eq!(system("https://go.example.com").url_of(&slug), "https://go.example.com/Abc_-1");
    assert_eq!(system("http://go.example.com:80").url_of(&slug), "http://go.example.com/Abc_-1");
}

#[test]
fn d22_addresses_on_custom_domains_have_the_scheme_of_the_setting() {
    let (host, slug) = (host("Links.example"), slug("a"));
    assert_eq!(CustomDomainScheme::default().url_of(&host, Some(&slug)), "https://links.example/a");
    assert_eq!(CustomDomainScheme::Http.url_of(&host, Some(&slug)), "http://links.example/a");
    assert_eq!(CustomDomainScheme::Http.url_of(&host, None), "http://links.example/");
}

#[test]
fn d61_the_system_domain_answers_to_its_hostname_and_its_aliases() {
    let system = system("https://go.example");
    for name in ["go.example", "GO.example.", "alias.example", "[2001:DB8:0::1]"] {
        assert!(system.answers_to(&host(name)), "{name}");
    }
    for name in ["example", "x.go.example", "alias.example.org", "[2001:db8::2]"] {
        assert!(!system.answers_to(&host(name)), "{name}");
    }
}

#[test]
fn d54_an_unnamed_installation_answers_to_every_loopback_name() {
    let named = system("http://localhost:8081");
    let unnamed = named.clone().with_loopback_names();
    for name in [
        "127.0.0.1",
        "127.8.8.8",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "go.localhost",
        "a.b.localhost",
        "LOCALHOST.",
    ] {
        assert!(unnamed.answers_to(&host(name)), "{name}");
        assert_eq!(named.answers_to(&host(name)), name == "LOCALHOST.", "{name}");
    }
    for name in ["128.0.0.1", "[::2]", "localhost.example", "xlocalhost", "localhost.localdomain", "0.0.0.0"]
    {
        assert!(!unnamed.answers_to(&host(name)), "{name}");
    }
    assert_eq!(unnamed.own_address_of(&target("http://127.0.0.1:8081/a")), Some(slug("a")), "D24");
    assert_eq!(unnamed.own_address_of(&target("http://127.0.0.1:8082/a")), None, "another program");
    assert_eq!(unnamed.url_of(&slug("a")), "http://localhost:8081/a");
}

#[test]
fn d24_every_spelling_of_an_own_address_is_recognised() {
    let system = system("https://go.example");
    for url in [
        "https://go.example/a",
        "https://go.example/a/",
        "https://GO.EXAMPLE./a",
        "https://go.example:443/a",
        "https://go.example:/a",
        "http://go.example/a",
        "http://go.example:80/a",
        "HTTPS://alias.example/a?b=c",
        "https://[2001:db8:0:0::1]/a",
        "https://go.example/a#b",
        "https://go.example/%61",
        "https://go.example/%61%2f",
        "https://go.example/x/../a",
        "https://go.example/./a",
        "https://go.example/x/%2E%2e/a/",
    ] {
        assert_eq!(system.own_address_of(&target(url)), Some(slug("a")), "{url}");
    }
}

#[test]
fn d24_other_addresses_are_not_our_own() {
    let system = system("https://go.example");
    for url in [
        "https://go.example",
        "https://go.example/",
        "https://go.example/?a",
        "https://go.example//a",
        "https://go.example/a//",
        "https://go.example/a/b",
        "https://go.example/a%20b",
        "https://go.example/a%00",
        "https://go.example/%ff",
        "https://go.example/ü",
        "https://go.example:8443/a",
        "http://go.example:443/a",
        "https://go.example:80/a",
        "https://www.go.example/a",
        "https://example/a",
        "https://go_.example/a",
    ] {
        assert_eq!(system.own_address_of(&target(url)), None, "{url}");
    }
}

#[test]
fn d24_a_slug_of_other_case_is_another_address() {
    let system = system("https://go.example");
    assert_ne!(system.own_address_of(&target("https://go.example/A")), Some(slug("a")));
}

#[test]
fn d24_an_origin_with_a_port_of_its_own_is_met_at_that_port_only() {
    let system = system("http://localhost:8081");
    for url in ["http://localhost:8081/a", "https://localhost:8081/a", "http://alias.example:8081/a"] {
        assert_eq!(system.own_address_of(&target(url)), Some(slug("a")), "{url}");
    }
    for url in ["http://localhost/a", "https://localhost/a", "http://localhost:8080/a"] {
        assert_eq!(system.own_address_of(&target(url)), None, "{url}");
    }
}

#[test]
fn d24_addresses_on_a_custom_domain_are_recognised_at_the_default_ports() {
    let hostname = host("links.example");
    let addressed = |url: &str| slug_addressed_on(&target(url), &hostname);
    for url in ["https://links.example/a", "http://LINKS.example.:80/a/?b#c", "https://links.example/%61"] {
        assert_eq!(addressed(url), Some(Some(slug("a"))), "{url}");
    }
    for url in ["https://links.example", "http://links.example/?a", "https://links.example/b/.."] {
        assert_eq!(addressed(url), Some(None), "{url}");
    }
    for url in
        ["https://links.example/a/b", "https://links.example:81/a", "http://links.example:443/", "http://a/a"]
    {
        assert_eq!(addressed(url), None, "{url}");
    }
}

/// Recognising own addresses and answering requests must agree. Otherwise a loop would be missed, or a
/// foreign target would be followed here.
#[test]
fn d24_an_ip_address_is_ours_exactly_where_requests_for_it_are_answered() {
    for (origin, ours) in [
        ("http://127.0.0.1", ["http://127.0.0.1/a", "http://127.0.0.1:80/a/"]),
        ("http://[::ffff:127.0.0.1]", ["http://[::ffff:7f00:1]/a", "http://[0:0::FFFF:127.0.0.1]/a"]),
    ] {
        let system = SystemDomain::new(origin, vec![]).unwrap();
        for url in ours {
            assert_eq!(system.own_address_of(&target(url)), Some(slug("a")), "{url} at {origin}");
        }
        for url in [
            "http://127.0.0.1/a",
            "http://[::ffff:127.0.0.1]/a",
            "http://[::127.0.0.1]/a",
            "http://[64:ff9b::127.0.0.1]/a",
            "http://[::1]/a",
        ] {
            let target = target(url);
            let is_answered = system.answers_to(&host(target.host()));
            assert_eq!(system.own_address_of(&target).is_some(), is_answered, "{url} at {origin}");
        }
    }
}

proptest! {
    #[test]
    fn d24_the_address_of_a_slug_leads_back_to_it(
        text in "[A-Za-z0-9_-]{1,64}", origin in "https?://[a-z]{1,8}(\\.[a-z]{2,4})?(:[1-9][0-9]{0,3})?/?",
        tail in "/?([?#][a-z/]{0,5})?",
    ) {
        let (system, slug) = (system(&origin), slug(&text));
        let url = target(&format!("{}{tail}", system.url_of(&slug)));
        prop_assert_eq!(system.own_address_of(&url), Some(slug.clone()));
        let custom = CustomDomainScheme::Https.url_of(system.hostname(), Some(&slug));
        prop_assert_eq!(slug_addressed_on(&target(&custom), system.hostname()), Some(Some(slug)));
    }

    #[test]
    fn d61_an_origin_is_an_origin_of_the_same_domain(
        origin in "https?://([a-z]{1,8}|127\\.0\\.0\\.1|\\[::1\\])(:[1-9][0-9]{0,3})?/?",
    ) {
        let first = system(&origin);
        prop_assert_eq!(system(&first.origin()), first);
    }
}

/// The edge has the same paths in a table.
#[test]
fn d59_paths_name_links_widgets_and_codes() {
    const WIDGET: &str = "wgt_00000000000000000000000000000001";
    let system = system("https://go.example.com");
    let widget = PublicPart::Widget(WIDGET.parse().unwrap());
    for (path, expected) in [
        ("", Some((None, PublicPart::Link))),
        ("a/", Some((Some("a"), PublicPart::Link))),
        ("w", Some((Some("w"), PublicPart::Link))),
        ("qr.svg", Some((None, PublicPart::QrCode))),
        ("w/qr.png/", Some((Some("w"), PublicPart::QrCode))),
        (&format!("w/{WIDGET}"), Some((None, widget))),
        (&format!("w/w/{WIDGET}/?x"), Some((Some("w"), widget))),
        (&format!("%61/b/../w/{WIDGET}"), Some((Some("a"), widget))),
        ("/", None),
        ("a//", None),
        ("a/b", None),
        ("a/w", None),
        ("a/w/x", None),
        ("a/qr.gif", None),
        (&format!("a/w/{WIDGET}/x"), None),
        (&format!("a.b/w/{WIDGET}"), None),
    ] {
        let expected = expected.map(|(text, part)| PublicPath { slug: text.map(slug), part });
        assert_eq!(
            system.own_path_of(&target(&format!("https://go.example.com/{path}"))),
            expected,
            "{path}"
        );
    }
    assert_eq!(system.own_path_of(&target("https://go.example.com:8443/a")), None);
}
