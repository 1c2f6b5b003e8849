//! R32: targets on our own addresses are followed at most five deep, on custom domains as on the system domain, and nobody
//! is ever sent round in a circle (D24).

use serde_json::{Value, json};

use crate::harness::domains::{DomainScene, path_of, visit};
use crate::harness::{Account, Program, redirect_body};

const HOSTS: [&str; 3] = ["localhost", "go.shop.test", "shop.test"];
const END: &str = "https://example.com/end";

/// How many redirects a browser follows before it gives up.
const MOST_HOPS: usize = 20;

/// A link; without a slug it is at the root of its domain.
fn link(account: &Account, host: &str, slug: Option<&str>, target: &str) -> Value {
    account.create_redirect(&redirect_body(json!({"domain": host, "slug": slug, "target_url": target})))
}

fn place(host: &str, path: &str) -> String {
    let port = if host.eq_ignore_ascii_case("localhost") { ":8081" } else { "" };
    format!("http://{host}{port}/{path}")
}

/// Where a client ends that follows redirects as long as they are ours.
fn follow(node: &Program, host: &str, path: &str) -> Result<String, u16> {
    let (mut host, mut path) = (host.to_owned(), path.to_owned());
    for _ in 0..MOST_HOPS {
        let visit = visit(node, &host, &path);
        let Some(location) = visit.location() else { return Err(visit.status) };
        let rest = location.strip_prefix("http://").or_else(|| location.strip_prefix("https://")).unwrap();
        let (authority, target_path) = rest.split_once('/').unwrap_or((rest, ""));
        let name = authority.split(':').next().unwrap().trim_end_matches('.').to_ascii_lowercase();
        if !HOSTS.contains(&name.as_str()) {
            return Ok(location.to_owned());
        }
        host = name;
        path = format!("/{}", target_path.split(['?', '#']).next().unwrap());
    }
    panic!("a client of {MOST_HOPS} hops goes round in circles at {host}{path}");
}

/// A spelling of an address that leads to the same link.
fn spelt(number: usize, host: &str, slug: &str) -> String {
    let port = if host == "localhost" { 8081 } else { 80 };
    match number % SPELLINGS {
        0 => place(host, slug),
        1 => place(&host.to_ascii_uppercase(), slug),
        2 => place(host, &format!("{slug}/")),
        3 => place(host, &format!("{slug}?from=mail&x=1")),
        4 => place(host, &format!("%{:02x}{}", slug.as_bytes()[0], &slug[1..])),
        5 => place(host, &format!("{slug}#part")),
        _ => format!("http://{host}.:{port}/{slug}"),
    }
}

const SPELLINGS: usize = 7;

#[test]
fn r32_chains_over_domains_are_followed_five_deep_and_no_deeper() {
    let scene = DomainScene::start();
    let [account, _] = scene.clients();
    HOSTS[1..].iter().for_each(|host| drop(scene.activate(&account, host)));
    let not_there = visit(scene.first(), "nobody.test", "/x").body;
    for variant in 0..SPELLINGS {
        let slug = |hop: usize| format!("v{variant}h{hop}");
        let host = |hop: usize| HOSTS[(hop + variant) % 3];
        link(&account, host(0), Some(&slug(0)), END);
        for hop in 1..=6 {
            let target = spelt(variant + hop, host(hop - 1), &slug(hop - 1));
            link(&account, host(hop), Some(&slug(hop)), &target);
        }
        for hop in 0..=6 {
            let path = format!("/{}", slug(hop));
            let target = (hop <= 5).then_some(END);
            scene.assert_leads(scene.first(), host(hop), &path, target);
            let node = &scene.nodes[hop % scene.nodes.len()];
            let ends = follow(node, host(hop), &path);
            assert_eq!(ends, target.map(str::to_owned).ok_or(404), "variant {variant}, {hop} deep");
        }
        assert_eq!(visit(scene.last(), host(6), &format!("/{}", slug(6))).body, not_there);
    }
}

/// Circles of one to six links, closed by a later edit, entered at every link; through roots too.
#[test]
fn r32_circles_over_domains_are_the_one_404_page() {
    let scene = DomainScene::start();
    let [account, _] = scene.clients();
    HOSTS[1..].iter().for_each(|host| drop(scene.activate(&account, host)));
    let not_there = visit(scene.first(), "nobody.test", "/x").body;
    for length in 2..=6 {
        let slug = |hop: usize| format!("c{length}h{hop}");
        let host = |hop: usize| HOSTS[(hop + length) % 3];
        let first = link(&account, host(0), Some(&slug(0)), END);
        for hop in 1..length {
            link(&account, host(hop), Some(&slug(hop)), &spelt(hop, host(hop - 1), &slug(hop - 1)));
        }
        let last = spelt(length, host(length - 1), &slug(length - 1));
        account.patch(&path_of(&first), &json!({"target_url": last})).expect_status(200);
        for hop in 0..length {
            let path = format!("/{}", slug(hop));
            scene.assert_leads(scene.first(), host(hop), &path, None);
            let visit = visit(scene.last(), host(hop), &path);
            assert_eq!((visit.status, &visit.body), (404, &not_there));
        }
        account.patch(&path_of(&first), &json!({"target_url": END})).expect_status(200);
        for hop in 0..length {
            scene.assert_leads(scene.first(), host(hop), &format!("/{}", slug(hop)), Some(END));
        }
    }
    let root = link(&account, "shop.test", None, "http://go.shop.test");
    scene.assert_leads(scene.first(), "shop.test", "/", Some("http://go.shop.test"));
    link(&account, "go.shop.test", None, "http://shop.test/");
    for host in &HOSTS[1..] {
        scene.assert_leads(scene.first(), host, "/", None);
        assert_eq!(follow(scene.first(), host, "/"), Err(404));
    }
    account.delete(&path_of(&root)).expect_status(200);
    scene.assert_leads(scene.first(), "go.shop.test", "/", Some("http://shop.test/"));
    assert_eq!(follow(scene.last(), "go.shop.test", "/"), Err(404));
}
