//! Links that ask for a password (D129, D131).

use signpost_app::ports::{ClickKind, Store};
use signpost_domain::{
    ClickLimit, CountryCode, GeoBlocklist, Life, MaxClicks, Pixel, PixelType, Redirect, RedirectStatus,
    Revision, Schedule, Utm, UtmPart, UtmValue,
};
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST, redirect_to};
use crate::rules;

const PASSWORD: &str = "plover";
const TARGET: &str = "https://example.com/the/secret/target";
const FALLBACK: &str = "https://example.com/the/fallback";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

fn secret(slug: &str) -> Redirect {
    redirect_to(slug, TARGET)
}

fn location(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

/// Checks that it is the form, and that it says nothing about its link.
#[track_caller]
fn is_form(answer: &Answer, status: u16) {
    assert_eq!(location(answer), (status, None), "{answer:?}");
    assert_eq!(answer.header("cache-control"), Some("private, no-store"));
    assert_eq!(answer.header("x-robots-tag"), Some("noindex"));
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("form-action"), "{policy}");
    for absent in ["set-cookie", "allow", "retry-after"] {
        assert_eq!(answer.header(absent), None, "{absent}");
    }
    assert!(answer.body.contains("<form method=\"post\">"), "{answer:?}");
    assert!(answer.body.contains("<meta name=\"robots\" content=\"noindex\">"));
    assert!(!answer.body.contains("secret") && !answer.body.contains(PASSWORD), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn d131_the_right_password_leads_to_the_target_and_is_the_click() {
    let edge = Edge::start().await;
    let link = edge.add_protected(&secret("prices"), PASSWORD).await;
    for path in ["/prices", "/prices/", "/prices?ref=mail"] {
        let form = edge.get(path);
        is_form(&form, 200);
        let head = edge.request("HEAD", path);
        assert_eq!((head.status, &head.headers, head.body.as_str()), (200, &form.headers, ""));
        is_form(&edge.send_password(path, "wrong"), 403);
        let sent = edge.send_password(path, PASSWORD);
        assert_eq!(location(&sent), (303, Some(TARGET)));
        assert_eq!(sent.header("cache-control"), Some("private, no-store"));
        assert_eq!((sent.header("set-cookie"), sent.body.as_str()), (None, ""));
        is_form(&edge.get(path), 200);
    }
    let clicks = edge.clicks().await;
    let clicks: Vec<_> =
        clicks.iter().map(|click| (click.kind, click.link, click.query.as_slice())).collect();
    let click = |query| (ClickKind::Sent, link.id.into(), query);
    assert_eq!(clicks.len(), 3);
    for expected in [click(&b""[..]), click(&b"ref=mail"[..])] {
        assert!(clicks.contains(&expected), "{clicks:?}");
    }
}

/// D131: the hash is read when a password is sent, and the form is not.
#[tokio::test(flavor = "multi_thread")]
async fn d131_the_form_costs_neither_a_read_nor_a_hash_and_another_password_applies_at_once() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    let link = edge.add_protected(&secret("prices"), PASSWORD).await;
    is_form(&edge.get("/prices"), 200);
    let (reads, work) = (edge.memory.store.link_reads().count(), edge.memory.link_passwords.work());
    for _ in 0..5 {
        is_form(&edge.get("/prices"), 200);
    }
    assert_eq!(edge.memory.store.link_reads().count(), reads);
    assert_eq!(edge.memory.link_passwords.work(), work);
    // Another node changes it, and this one does not know yet.
    edge.password_change(&link, Some("another one")).await.commit().await.unwrap();
    is_form(&edge.send_password("/prices", PASSWORD), 403);
    assert_eq!(location(&edge.send_password("/prices", "another+one")), (303, Some(TARGET)));
}

/// The link has no password any more, and this node does not know yet.
#[tokio::test(flavor = "multi_thread")]
async fn d131_a_password_that_was_removed_meanwhile_opens_nothing_until_the_node_knows() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    let link = edge.add_protected(&secret("prices"), PASSWORD).await;
    is_form(&edge.get("/prices"), 200);
    let work = edge.password_change(&link, None).await;
    let changes = work.changes();
    work.commit().await.unwrap();
    let answer = edge.send_password("/prices", PASSWORD);
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")));
    for change in &changes {
        edge.app.changes.publish(change, signpost_app::changes::Origin::ThisNode);
    }
    assert_eq!(location(&edge.get("/prices")), (302, Some(TARGET)));
    assert_eq!(edge.send_password("/prices", PASSWORD).status, 405);
}

/// D131, D132: what a GET of the link without a password would get.
#[tokio::test(flavor = "multi_thread")]
async fn d132_the_location_has_the_parameters_of_the_address_and_the_status_is_303() {
    let edge = Edge::start().await;
    let way = |slug| {
        redirect_to(slug, "https://example.com/a?b=c#d").with(|content| {
            content.way.redirect_status = RedirectStatus::TemporaryRedirect;
            content.way.forward_query = true;
            let news = |part| UtmValue::parse("news").ok().filter(|_| part == UtmPart::Source);
            content.way.utm = Utm::new(news);
        })
    };
    edge.add(&way("open")).await;
    edge.add_protected(&way("prices"), PASSWORD).await;
    for query in ["", "?x=1&b=2&src=qr", "?x=%0d%0aLocation:%20https://evil.example", "?password=plover"] {
        let plain = edge.get(&format!("/open{query}"));
        assert_eq!(plain.status, 307);
        let sent = edge.send_password(&format!("/prices{query}"), PASSWORD);
        assert_eq!(location(&sent), (303, plain.header("location")), "{query}");
        is_form(&edge.send_password(&format!("/prices{query}"), "wrong"), 403);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d131_a_landing_page_is_shown_after_its_password() {
    let edge = Edge::start().await;
    let page = edge.add_protected(&samples::landing("menu"), PASSWORD).await;
    is_form(&edge.get("/menu"), 200);
    is_form(&edge.send_password("/menu", "wrong"), 403);
    let shown = edge.send_password("/menu", PASSWORD);
    assert_eq!(location(&shown), (200, None));
    assert_eq!(shown.header("cache-control"), Some("private, no-store"));
    assert!(shown.body.contains("<h1") && !shown.body.contains("<form"), "{shown:?}");
    assert!(shown.header("content-security-policy").unwrap().contains("form-action 'none'"));
    // The picture of an address says nothing about what is there.
    assert_eq!(edge.get("/menu/qr.svg").status, 200);
    let clicks = edge.clicks().await;
    let clicks: Vec<_> = clicks.iter().map(|click| (click.kind, click.link)).collect();
    assert_eq!(clicks, [(ClickKind::Shown, page.id.into())]);
}

/// D57, D129: pixels come last, and only for those who may be tracked.
#[tokio::test(flavor = "multi_thread")]
async fn d129_pixels_fire_after_the_password() {
    let edge = Edge::start().await;
    let pixel = Pixel { code: samples::pixel_code(PixelType::Meta), ..samples::pixel("a") };
    let mut work = edge.memory.store.begin().await.unwrap();
    work.insert_pixel(edge.account, &pixel, 9).await.unwrap();
    edge.commit(work).await;
    let tracked = secret("prices").with(|content| content.pixel_ids = samples::pixel_ids(vec![pixel.id]));
    edge.add_protected(&tracked, PASSWORD).await;
    is_form(&edge.get("/prices"), 200);
    is_form(&edge.send_password("/prices", "wrong"), 403);
    let form = format!("password={PASSWORD}");
    let agent = format!("User-Agent: {BROWSER}\r\n");
    let page = edge.post_with("/prices", &agent, &form);
    assert_eq!(location(&page), (200, None));
    assert!(page.body.contains("secret") && page.body.contains("<script"), "{page:?}");
    let refusing = edge.post_with("/prices", &format!("{agent}Sec-GPC: 1\r\n"), &form);
    assert_eq!(location(&refusing), (303, Some(TARGET)));
    assert_eq!(edge.clicks().await.len(), 2);
}

/// D129: whoever is turned away by a date or a gate is asked for nothing, and nothing is hashed for them.
#[tokio::test(flavor = "multi_thread")]
async fn d129_dates_and_gates_come_before_the_password() {
    let edge = Edge::start().await;
    let germany = CountryCode::parse("DE").unwrap();
    edge.memory.countries.put("127.0.0.1".parse().unwrap(), germany);
    let dated = |slug, starts_at: Option<i64>, expires_at: Option<i64>, fallback_url| {
        let schedule = Schedule::from_stored(starts_at.map(samples::at), expires_at.map(samples::at));
        Redirect { life: Life { schedule, fallback_url }, ..secret(slug) }
    };
    for link in [
        dated("later", Some(1), None, None),
        dated("over", None, Some(0), None),
        dated("over-to", None, Some(0), Some(samples::target(FALLBACK))),
        Redirect { is_active: false, ..secret("inactive") },
        secret("people").with(|content| content.antibot_enabled = true),
        secret("country").with(|content| content.geo_blocklist = GeoBlocklist::new(vec![germany])),
    ] {
        edge.add_protected(&link, PASSWORD).await;
    }
    let unknown = edge.get("/none");
    let work = edge.memory.link_passwords.work();
    for (path, expected) in [
        ("/later", (404, None)),
        ("/inactive", (404, None)),
        ("/none", (404, None)),
        ("/over", (410, None)),
        ("/over-to", (302, Some(FALLBACK))),
        ("/people", (403, None)),
        ("/country", (403, None)),
    ] {
        let opened = edge.get(path);
        assert_eq!(location(&opened), expected, "{path}");
        // Without a word about the method, so that a form tells no more than a visit.
        for password in [PASSWORD, "wrong"] {
            assert_eq!(edge.send_password(path, password), opened, "{path}");
        }
        assert!(!opened.body.contains("<form"), "{path}");
        assert_eq!(opened == unknown, expected == (404, None), "{path}");
    }
    assert_eq!(edge.memory.link_passwords.work(), work);
    let clicks = edge.clicks().await;
    let kinds: Vec<ClickKind> = clicks.iter().map(|click| click.kind).collect();
    assert_eq!(kinds, [ClickKind::Blocked; 2], "a visit counts, and what a form adds to it does not");
}

/// D129, D130: the form and a wrong password use no click of a limit.
#[tokio::test(flavor = "multi_thread")]
async fn d129_the_limit_of_clicks_comes_after_the_password() {
    let edge = Edge::start().await;
    let limit = ClickLimit::new(MaxClicks::new(2).unwrap(), 0, Revision::FIRST);
    let limited = secret("prices").with(|content| content.click_limit = Some(limit));
    edge.add_protected(&limited, PASSWORD).await;
    let send = |agent: &str, password: &str| {
        edge.post_with("/prices", &format!("User-Agent: {agent}\r\n"), &format!("password={password}"))
    };
    edge.memory.bots.put(b"curl/8.5.0");
    for _ in 0..3 {
        is_form(&edge.get("/prices"), 200);
        assert_eq!(edge.request("HEAD", "/prices").status, 200);
        is_form(&send(BROWSER, "wrong"), 403);
        // Programs use no click, with the password or without (D130).
        let withheld = send("curl/8.5.0", PASSWORD);
        assert_eq!(location(&withheld), (503, None));
        assert!(!withheld.body.contains("secret"), "{withheld:?}");
    }
    for _ in 0..2 {
        assert_eq!(location(&send(BROWSER, PASSWORD)), (303, Some(TARGET)));
    }
    for answer in [edge.get("/prices"), send(BROWSER, PASSWORD), send(BROWSER, "wrong")] {
        assert_eq!(location(&answer), (410, None));
    }
    assert_eq!(edge.clicks().await.len(), 2);
}

/// D129, D133: rules say where the right password leads, also on a limited link, and count by its click.
#[tokio::test(flavor = "multi_thread")]
async fn d129_rules_decide_after_the_password() {
    let edge = rules::started().await;
    let limit = ClickLimit::new(MaxClicks::new(2).unwrap(), 0, Revision::FIRST);
    for (slug, click_limit) in [("open", None), ("limited", Some(limit))] {
        let link = rules::ruled_by(slug, r#"{"type":"query","name":"a","is":"present"}"#);
        edge.add_protected(&link.with(|content| content.click_limit = click_limit), PASSWORD).await;
        let send = |query: &str, password: &str| {
            let agent = format!("User-Agent: {BROWSER}\r\n");
            edge.post_with(&format!("/{slug}{query}"), &agent, &format!("password={password}"))
        };
        for (query, target) in [("?a", rules::RULED), ("", rules::DEFAULT)] {
            is_form(&edge.get(&format!("/{slug}{query}")), 200);
            is_form(&send(query, "wrong"), 403);
            assert_eq!(location(&send(query, PASSWORD)), (303, Some(target)), "{slug}{query}");
        }
        assert_eq!(send("?a", PASSWORD).status, if click_limit.is_some() { 410 } else { 303 });
    }
    let mut labels: Vec<String> = edge.clicks().await.into_iter().map(|click| click.rule).collect();
    labels.sort();
    assert_eq!(labels, ["", "", "x", "x", "x"]);
}

/// D131: each address judges its own visits.
#[tokio::test(flavor = "multi_thread")]
async fn d131_a_link_with_a_password_is_not_inlined_into_chains() {
    let edge = Edge::start().await;
    edge.add_protected(&secret("prices"), PASSWORD).await;
    let own = format!("https://{HOST}/prices");
    edge.add(&redirect_to("first", &own)).await;
    assert_eq!(location(&edge.get("/first")), (302, Some(own.as_str())));
    assert_eq!(edge.send_password("/first", PASSWORD).status, 405);
    // Behind the password, a chain goes on as any other.
    edge.add(&redirect_to("last", TARGET)).await;
    edge.add_protected(&redirect_to("through", &format!("https://{HOST}/last")), PASSWORD).await;
    assert_eq!(location(&edge.send_password("/through", PASSWORD)), (303, Some(TARGET)));
    edge.add_protected(&redirect_to("round", &format!("https://{HOST}/round")), PASSWORD).await;
    let unknown = edge.get("/none");
    assert_eq!((edge.get("/round"), edge.send_password("/round", PASSWORD)), (unknown.clone(), unknown));
}

/// D53: only links with a password take a form, at their own address.
#[tokio::test(flavor = "multi_thread")]
async fn d53_everything_else_refuses_a_form() {
    let edge = Edge::start().await;
    edge.add(&secret("open")).await;
    edge.add(&samples::landing("menu")).await;
    edge.add_protected(&secret("prices"), PASSWORD).await;
    let over = Life { schedule: Schedule::from_stored(None, Some(samples::at(0))), ..Life::default() };
    edge.add(&Redirect { life: over, ..secret("over") }).await;
    for path in [
        "/open",
        "/menu",
        "/over",
        "/",
        "/prices/qr.svg",
        "/prices/w/wgt_00000000000000000000000000000001",
        "/favicon.ico",
        "/robots.txt",
        "/.well-known/change-password",
        "/a/b",
    ] {
        let answer = edge.send_password(path, PASSWORD);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{path}");
    }
    for method in ["PUT", "PATCH", "DELETE", "OPTIONS"] {
        // Decided before the link is looked up (D129), so it does not tell which links have a password.
        let answer = edge.request(method, "/prices");
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
}

/// Nothing is at stake in a form without a session, and previewers and bots see what everybody sees.
#[tokio::test(flavor = "multi_thread")]
async fn d131_where_a_form_comes_from_makes_no_difference() {
    let edge = Edge::start().await;
    edge.add_protected(&secret("prices"), PASSWORD).await;
    let form = format!("a=b&password={PASSWORD}");
    for headers in [
        "Sec-Fetch-Site: cross-site\r\nOrigin: https://other.example\r\n",
        "Origin: null\r\n",
        "User-Agent: WhatsApp/2.23.20.0\r\n",
        "User-Agent: curl/8.5.0\r\n",
    ] {
        let host = format!("Host: {HOST}\r\n{headers}");
        is_form(&edge.request_with("GET", "/prices", &host), 200);
        assert_eq!(location(&edge.post_with("/prices", headers, &form)), (303, Some(TARGET)), "{headers}");
    }
    let german = edge.post_with("/prices", "Accept-Language: de\r\n", "password=wrong");
    is_form(&german, 403);
    assert!(german.body.contains("Dieses Passwort stimmt nicht"), "{german:?}");
}
