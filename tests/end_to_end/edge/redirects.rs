//! Redirects of the built program: a moved system domain, and targets at real sites (D24, D53, D61).

use serde_json::json;

use crate::harness::{Program, concurrently, redirect_body};

/// R47: the system domain moves by configuration alone.
#[test]
fn d61_a_moved_system_domain_shows_new_addresses_and_resolves_the_old_ones() {
    let program = Program::start();
    let account = program.first_account();
    account.create_redirect(&redirect_body(json!({"slug": "sale"})));
    let link = account.walk("/v1/redirects", "")[0].clone();
    assert_eq!(link["url"], "http://localhost:8081/sale");
    let moved = program.beside(&["--system-url", "https://new.example.com", "--system-aliases", "localhost"]);
    let visitor = moved.visitor();
    for host in ["new.example.com", "localhost"] {
        assert_eq!(visitor.request("GET", "/sale", &[("Host", host)]).status, 302);
    }
    let again = moved.with_key(&account.key);
    let link = again.walk("/v1/redirects", "")[0].clone();
    assert_eq!(
        (&link["url"], &link["domain"]),
        (&json!("https://new.example.com/sale"), &json!("new.example.com"))
    );
}

/// Each line has a name, the target of the link, and the expected `Location`.
const SITES: &str = include_str!("sites.csv");

fn sites() -> Vec<[&'static str; 3]> {
    SITES
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<_> = line.split(';').collect();
            <[&str; 3]>::try_from(cells).unwrap_or_else(|cells| panic!("three cells: {cells:?}"))
        })
        .collect()
}

#[test]
fn d53_two_hundred_real_sites_resolve_to_the_same_address() {
    let sites = sites();
    assert!(sites.len() >= 200);
    assert!(sites.iter().filter(|[_, target, _]| !target.is_ascii()).count() >= 20);
    let program = Program::start();
    let account = program.first_account();
    let visitor = program.visitor();
    let opened = concurrently(4, |worker| {
        let mine = sites.iter().skip(worker).step_by(4);
        mine.map(|[name, target, location]| {
            let link = account.create_redirect(&json!({"name": name, "target_url": target}));
            assert_eq!(link["target_url"], *target);
            let visit = visitor.open(&format!("/{}", link["slug"].as_str().unwrap()));
            assert_eq!((visit.status, visit.location()), (302, Some(*location)), "{name}");
        })
        .count()
    });
    assert_eq!(opened.into_iter().sum::<usize>(), sites.len());
    assert_eq!(account.walk("/v1/redirects", "?limit=100").len(), sites.len());
}
