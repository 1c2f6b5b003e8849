//! Every screen of the dashboard, with data, on the store of the run: on SQLite, and on PostgreSQL with Redis.

use serde_json::{Value, json};
use signpost_dashboard::{ROUTES, RouteMethod};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{Dimension, RecordedKind};

use crate::harness::https::with_secrets_key;
use crate::harness::{DomainScene, EarlierVisits, Page, Person, Program, store_visits};

const HOST: &str = "go.shop.test";
const EMAIL: &str = "ines@example.com";

/// Screens that exist only beside an identity provider. `sign_in.rs` opens them.
const OF_PROVIDER: [&str; 5] = [
    "/sign-in/provider",
    "/sign-in/provider/callback",
    "/invitation/{token}/provider",
    "/confirm/provider",
    "/me/identity",
];

/// The files that have every click.
const WITH_CLICKS: [&str; 3] =
    ["/{account}/export-clicks.csv", "/{account}/export-clicks.jsonl", "/{account}/export-everything.jsonl"];

/// The objects that the screens show.
struct Objects {
    account: String,
    redirect: String,
    landing: String,
    domain: String,
    user: String,
    invitation: String,
    reset: String,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The token at the end of a link.
fn token(url: &Value) -> String {
    url.as_str().unwrap().rsplit_once('/').unwrap().1.to_owned()
}

/// An account with at least one of everything, and the person who owns it and is operator.
fn fill(scene: &DomainScene) -> (Person, Objects) {
    let program = scene.first();
    let account = program.account("agency");
    let (id, client) = (account.id().to_owned(), &account);
    let owner = ["--account", &id, "--role", "owner", "--operator"];
    let person = Person::invited(program, EMAIL, &owner);
    Person::invited_as(program, "Kofi", "kofi@example.com", &["--account", &id, "--role", "editor"]);
    let domain = scene.activate(client, HOST);
    let group = client.create_group("Seasons")["id"].clone();
    let pixel = json!({"pixel_type": "meta", "pixel_id": "123456789012345", "name": "Shop pixel"});
    client.post("/v1/pixels", &pixel).expect_status(201);
    let redirect = client.create_redirect(&json!({
        "name": "Autumn menu", "target_url": "https://example.com/menu", "group_id": group, "domain": HOST,
        "slug": "autumn", "tags": ["Spring"], "expires_at": "2999-10-31T23:30:07.042Z",
        "max_clicks": 1_000, "utm": {"source": "mail"}, "password": "plover egg tin",
        "preview": {"title": "The menu of this week"},
        "rules": [{"name": "german", "conditions": [{"type": "country", "in": ["DE"]}], "target_url": "https://example.com/de"}],
    }));
    let widgets = json!([{"type": "link", "title": "Our shop", "url": "https://shop.example.com/"}]);
    let page = json!({"title": "Morgenbrot", "slug": "bread", "widgets": widgets, "starts_at": "2999-01-31T09:05:00Z"});
    let landing = client.post("/v1/landings", &page).expect_status(201).body;
    let objects = Objects {
        redirect: text(&redirect["id"]),
        landing: text(&landing["id"]),
        domain: text(&domain["id"]),
        user: user_id(program),
        invitation: invite(program, &id),
        reset: token(&program.command(&["user", "reset", "--json", EMAIL])["reset_url"]),
        account: id,
    };
    let at = jiff::Timestamp::now().as_millisecond() - 86_400_000;
    let visit = |link, kind, values| EarlierVisits {
        account: &objects.account,
        link,
        at: Timestamp::from_unix_millis(at).unwrap(),
        kind,
        visitor: 1,
        times: 1_204,
        values,
    };
    store_visits(
        program,
        &[
            visit(&objects.redirect, RecordedKind::Click, &[(Dimension::Country, "DE")]),
            visit(&objects.landing, RecordedKind::Bot, &[(Dimension::Country, "AT")]),
        ],
    );
    (person, objects)
}

fn user_id(program: &Program) -> String {
    let users = program.command(&["user", "list", "--json"]);
    let kofi = users.as_array().unwrap().iter().find(|user| user["email"] == "kofi@example.com").unwrap();
    text(&kofi["id"])
}

/// The token of a pending invitation.
fn invite(program: &Program, account: &str) -> String {
    let invited = ["user", "invite", "--json", "--email", "nia@example.com", "--role", "viewer"];
    token(&program.command(&[&invited[..], &["--account", account]].concat())["invite_url"])
}

/// What a route is asked for with, and what its answer says. The paths of a route may be several.
fn screens(pattern: &str, objects: &Objects) -> Vec<(String, &'static str)> {
    let Objects { account, redirect, landing, domain, user, invitation, reset } = objects;
    let of = |object: &str, rest: &str| pattern.replace("{account}", account).replace("{id}", object) + rest;
    match pattern {
        "/accounts" => vec![(of("", ""), "Your accounts")],
        "/invitation/{token}" => vec![(format!("/invitation/{invitation}"), "nia@example.com")],
        "/reset/{token}" => vec![(format!("/reset/{reset}"), "password")],
        "/confirm" => vec![(of("", "?next=/me"), EMAIL)],
        "/me" => vec![(of("", ""), EMAIL)],
        "/me/second-factor" => vec![(of("", ""), "second factor")],
        "/me/second-factor/set-up" => vec![(of("", ""), "<pre>")],
        "/audit" | "/{account}/audit" => vec![(of("", ""), "<li>"), (of("", "?q=zzz"), "No entry")],
        "/audit.ndjson" => vec![(of("", ""), "\"actor\":")],
        "/operator/accounts" => {
            vec![(of("", ""), "@example.com"), (of("", &format!("?q={account}")), "agency")]
        }
        "/operator/accounts/{id}" => vec![(of(account, ""), "Kofi")],
        "/operator/accounts/{id}/delete" => vec![(of(account, ""), "1 custom domain")],
        "/operator/users" => vec![(of("", ""), "Kofi"), (of("", "?q=kofi@example.com"), "Kofi")],
        "/operator/users/{id}" => vec![(of(user, ""), "kofi@example.com")],
        "/operator/sign-ins" => vec![(of("", &format!("?email={EMAIL}&address=203.0.113.9")), EMAIL)],
        "/operator/health" => vec![(of("", ""), "works")],
        "/{account}/links" => vec![
            (of("", ""), "1,204"),
            (of("", ""), "Scheduled, opens 31 Jan 2999, "),
            (of("", &format!("?q=autumn&state=active&kind=redirect&domain={HOST}")), "Autumn menu"),
        ],
        "/{account}/links/new" => vec![(of("", ""), HOST), (of("", "?kind=landing"), HOST)],
        "/{account}/links/{id}" => {
            vec![
                (of(redirect, ""), "Autumn menu"),
                (of(redirect, ""), ":30:07.042\""),
                (of(redirect, ""), "1,000 of 1,000"),
                (of(redirect, ""), "Visitors are asked for it"),
                (of(redirect, ""), "Country is Germany"),
                (of(redirect, ""), "<h3><bdi>The menu of this week</bdi></h3>"),
                (of(redirect, ""), "https://example.com/menu?utm_source=mail</bdi>"),
                (of(redirect, "?new=1"), "is live"),
                (of(landing, ""), "Morgenbrot"),
            ]
        }
        "/{account}/links/{id}/test" => vec![
            (of(redirect, ""), "<h2>A form for the password</h2>"),
            (of(landing, "?agent=whatsapp&at=2999-02-01T09:05"), "<h2>The page</h2>"),
            (of(landing, ""), "<h2>Nothing is there</h2>"),
        ],
        "/{account}/test" => vec![
            (of("", ""), "Any short address"),
            (
                of("", &format!("?url=https://{HOST}/autumn&agent=googlebot&country=DE")),
                "<h2>A form for the password</h2>",
            ),
            (of("", &format!("?url=https://{HOST}/nothing")), "<h2>No link of yours</h2>"),
        ],
        "/{account}/links/{id}/page" | "/{account}/links/{id}/page/preview" => {
            vec![(of(landing, ""), "Our shop")]
        }
        "/{account}/links/{id}/page/accent" => {
            vec![(of(landing, "?accent_color=%23ffe600&theme=dark"), "readable")]
        }
        "/{account}/links/{id}/qr.svg" => vec![(of(redirect, ""), "<svg")],
        "/{account}/links/{id}/analytics" => {
            vec![
                (of(redirect, "?part=devices"), "Germany"),
                (of(redirect, "?part=targets"), "No rule"),
                (of(landing, "?show=bots&part=devices"), "1,204"),
            ]
        }
        "/{account}/links/{id}/analytics.csv" => vec![(of(redirect, ""), "total,,1204,")],
        "/{account}/links/{id}/analytics/live" | "/{account}/analytics/live" => {
            vec![(of(redirect, ""), "Last 30 minutes")]
        }
        "/{account}/analytics" => vec![
            (of("", "?part=targets"), "Autumn menu"),
            (of("", &format!("?domain={HOST}&part=devices&country=DE")), "1,204"),
        ],
        "/{account}/analytics.csv" => vec![(of("", ""), "total,,1204,")],
        "/{account}/domains" => vec![(of("", ""), HOST)],
        "/{account}/domains/{id}" => vec![(of(domain, ""), "signpost-verification=")],
        "/{account}/groups" => vec![(of("", ""), "Seasons")],
        "/{account}/tags" => vec![(of("", ""), "Spring")],
        "/{account}/pixels" => vec![(of("", ""), "Shop pixel")],
        "/{account}/keys" => vec![(of("", ""), "<li>")],
        "/{account}/members" => vec![(of("", ""), "kofi@example.com")],
        "/{account}/audit.ndjson" => vec![(of("", ""), "\"account_id\":\"acc_")],
        "/{account}/settings" => vec![(of("", ""), "agency")],
        "/{account}/settings/delete" => vec![(of("", ""), "1 custom domain")],
        "/{account}/export.csv" | "/{account}/export.jsonl" => vec![(of("", ""), "Autumn menu")],
        "/{account}/export-pages.jsonl" => vec![(of("", ""), "Our shop")],
        "/{account}/usage" => vec![(of("", ""), "1,000,000")],
        _ => panic!("{pattern} is opened by no test on both stores"),
    }
}

/// What is wrong with a screen, which is to say `expected`.
fn mistake(path: &str, page: &Page, expected: &str) -> Option<String> {
    let Page { status, body, location } = page;
    // Errors, and sentences in place of data that cannot be read.
    let wrong = ["role=\"alert\"", "cannot be read right now"].into_iter().find(|wrong| body.contains(wrong));
    let is_sound = *status == 200 && body.contains(expected) && wrong.is_none();
    let begins: String = body.split("<main").last().unwrap().chars().take(600).collect();
    (!is_sound).then(|| format!("{path}: {status} {location}, not {expected} but {wrong:?} {begins}"))
}

/// The first node fills the account, and the last, which may be the same, shows it.
#[test]
fn every_screen_opens_with_data_on_this_store() {
    // Second factors on PostgreSQL need a secrets key.
    let mut secrets = None;
    let scene = DomainScene::start_with(|node| {
        let (folder, node) = with_secrets_key(node);
        secrets = Some(folder);
        node
    });
    let (person, objects) = fill(&scene);
    let node = scene.last();
    let mut person = person.also_at(node);
    let mut nobody = Person::at(node);
    let (mut opened, mut files, mut mistakes) = (0, 0, vec![]);
    for route in ROUTES.iter().filter(|route| route.method == RouteMethod::Get) {
        let pattern = route.pattern;
        match pattern {
            _ if OF_PROVIDER.contains(&pattern) || pattern.starts_with("/assets/") => {}
            "/" | "/first" | "/{account}" => {
                let place = person.get(&pattern.replace("{account}", &objects.account)).expect_status(303);
                assert!(place.location.starts_with('/'), "{pattern}: {}", place.location);
            }
            "/sign-in" => mistakes.extend(mistake(pattern, &nobody.get(pattern), "password")),
            // Without a password that was right, and with a token that never was.
            "/sign-in/code" | "/favicon.ico" => drop(nobody.get(pattern).expect_status(303)),
            "/start/{token}" => drop(nobody.get(&format!("/start/{}", "0".repeat(64))).expect_status(410)),
            // A node begins one file with clicks of an account in a minute.
            _ if WITH_CLICKS.contains(&pattern) => {
                let page = person.get(&pattern.replace("{account}", &objects.account));
                let (status, expected) = if files == 0 { (200, "DE") } else { (429, "one file a minute") };
                assert_eq!(page.status, status, "{pattern}: {}", page.body);
                assert!(page.body.contains(expected), "{pattern}: {}", page.body);
                files += 1;
            }
            _ => {
                for (path, expected) in screens(pattern, &objects) {
                    mistakes.extend(mistake(&path, &person.get(&path), expected));
                    opened += 1;
                }
            }
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n\n"));
    assert!(opened > 45, "{opened}");
}
