//! Links that ask for a password, as visitors meet them on one program (D53, D128 to D131).

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{
    Account, BROWSER, OPENING, PASSWORD as OWN_PASSWORD, Person, Program, Visit, Visitor, body_with,
    concurrently, exchange, parse_response, redirect_body, within_one_minute,
};

const PASSWORD: &str = "plover egg tin";

const TARGET: &str = "https://example.com/prices?a=b#c";

/// How long a body may take that does not arrive. The program gives it less; the rest is for a busy machine.
const REFUSED_WITHIN: Duration = Duration::from_mins(1);

/// Creates a redirect to [`TARGET`] with a password, and returns its path in the API.
fn create(account: &Account, slug: &str, fields: Value) -> String {
    let link = json!({"slug": slug, "target_url": TARGET, "password": PASSWORD});
    let link = account.post("/v1/redirects", &redirect_body(body_with(link, fields))).expect_status(201);
    format!("/v1/redirects/{}", link.body["id"].as_str().unwrap())
}

/// The body of the form.
fn form(password: &str) -> String {
    let encoded: Vec<String> = password.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("password={}", encoded.concat())
}

/// Sends the form with a password.
fn send(visitor: &Visitor, path: &str, password: &str) -> Visit {
    send_from(visitor, path, password, None)
}

/// The same through a proxy, from an address.
fn send_from(visitor: &Visitor, path: &str, password: &str, address: Option<&str>) -> Visit {
    let mut headers = OPENING.to_vec();
    headers.push(("Content-Type", "application/x-www-form-urlencoded"));
    headers.extend(address.map(|address| ("X-Forwarded-For", address)));
    visitor.request_with("POST", path, &headers, form(password).as_bytes())
}

/// Asserts what every answer has that is not the link's own.
#[track_caller]
fn assert_gives_nothing_away(visit: &Visit) {
    assert_eq!(visit.location(), None, "{visit:?}");
    assert!(!visit.body.contains("prices") && !visit.body.contains("plover"), "{visit:?}");
    assert_stays_private(visit);
}

/// No cache keeps the answer, and no cookie lets its visitor in again.
#[track_caller]
fn assert_stays_private(visit: &Visit) {
    assert!(visit.header("cache-control").unwrap().contains("no-store"), "{visit:?}");
    assert_eq!(visit.header("set-cookie"), None, "{visit:?}");
}

#[track_caller]
fn assert_is_form(visit: &Visit, status: u16) {
    assert_eq!(visit.status, status, "{visit:?}");
    assert_gives_nothing_away(visit);
    assert!(visit.body.contains("<form") && visit.body.contains("name=\"password\""), "{visit:?}");
    assert!(visit.header("x-robots-tag").unwrap_or_default().contains("noindex"), "{visit:?}");
    let policy = visit.header("content-security-policy").unwrap();
    assert!(!policy.contains("form-action"), "Chromium would apply it to the target: {policy}");
}

#[test]
fn d131_a_link_opens_for_those_who_type_its_password() {
    let program = Program::start();
    let (account, visitor) = (program.first_account(), program.visitor());
    let link = create(&account, "prices", json!({"redirect_status": 307}));
    for path in ["/prices", "/prices/", "/prices?ref=mail"] {
        assert_is_form(&visitor.open(path), 200);
        assert_is_form(&send(&visitor, path, "plover egg"), 403);
        let opened = send(&visitor, path, PASSWORD);
        assert_eq!((opened.status, opened.location()), (303, Some(TARGET)), "{opened:?}");
        assert_stays_private(&opened);
        assert_is_form(&visitor.open(path), 200);
    }
    let head = visitor.request("HEAD", "/prices", &OPENING);
    assert_eq!((head.status, head.location(), head.body.as_str()), (200, None, ""));
    for method in ["PUT", "PATCH", "DELETE"] {
        assert_eq!(visitor.request(method, "/prices", &OPENING).status, 405, "{method}");
    }
    account.patch(&link, &json!({"password": "e\u{301}t\u{e9}s"})).expect_status(200);
    let replaced = send(&visitor, "/prices", "\u{e9}te\u{301}s");
    assert_eq!((replaced.status, replaced.location()), (303, Some(TARGET)), "in NFC");
    assert_eq!(send(&visitor, "/prices", PASSWORD).status, 403);
    account.patch(&link, &json!({"password": null})).expect_status(200);
    let open = visitor.open("/prices");
    assert_eq!((open.status, open.location()), (307, Some(TARGET)));
    assert_eq!(visitor.request_with("POST", "/prices", &OPENING, b"").status, 405, "D53");
}

#[test]
fn d131_a_landing_page_is_shown_after_its_password() {
    let program = Program::start();
    let (account, visitor) = (program.first_account(), program.visitor());
    let page = json!({"title": "Menu of prices", "slug": "menu", "password": PASSWORD});
    account.post("/v1/landings", &page).expect_status(201);
    assert_is_form(&visitor.open("/menu"), 200);
    assert_is_form(&send(&visitor, "/menu", "wrong"), 403);
    let shown = send(&visitor, "/menu", PASSWORD);
    assert!(shown.status == 200 && shown.body.contains("Menu of prices"), "{shown:?}");
    assert_stays_private(&shown);
    assert_eq!(visitor.open("/menu/qr.svg").status, 200, "the code of the link is no secret");
}

/// D129: what is judged before the password hides it, and a limit of visits comes last.
#[test]
fn d129_the_password_comes_after_the_gates_and_before_the_limit() {
    let program = Program::builder().setting("country-header", "X-Country").start();
    let (account, visitor) = (program.first_account(), program.visitor());
    create(&account, "later", json!({"starts_at": "2999-01-31T10:00:00Z"}));
    create(&account, "over", json!({"expires_at": "2020-01-31T10:00:00Z"}));
    create(&account, "blocked", json!({"geo_blocklists": {"countries": ["PT"]}}));
    create(&account, "people", json!({"antibot_enabled": true}));
    create(&account, "inactive", json!({"is_active": false}));
    let form_type = ("Content-Type", "application/x-www-form-urlencoded");
    for (path, agent, status) in [
        ("/later", BROWSER, 404),
        ("/over", BROWSER, 410),
        ("/blocked", BROWSER, 403),
        ("/people", "curl/8.5.0", 403),
        ("/inactive", BROWSER, 404),
        ("/nothing", BROWSER, 404),
    ] {
        let headers = [("Host", "localhost:8081"), ("User-Agent", agent), ("X-Country", "PT"), form_type];
        let opened = visitor.request("GET", path, &headers);
        assert_eq!(opened.status, status, "{path}");
        assert!(!opened.body.contains("<form"), "{path}: {opened:?}");
        for password in [PASSWORD, "wrong"] {
            let sent = visitor.request_with("POST", path, &headers, form(password).as_bytes());
            assert_eq!(sent.location(), None, "{path}: {sent:?}");
            assert!(!sent.body.contains("<form"), "{path}: {sent:?}");
        }
    }
    let limited = create(&account, "limited", json!({"max_clicks": 2}));
    for _ in 0..3 {
        assert_is_form(&visitor.open("/limited"), 200);
        assert_is_form(&send(&visitor, "/limited", "wrong"), 403);
    }
    for _ in 0..2 {
        assert_eq!(send(&visitor, "/limited", PASSWORD).status, 303);
    }
    assert_eq!(send(&visitor, "/limited", PASSWORD).status, 410);
    let shown = account.get(&limited).expect_status(200).body;
    assert_eq!([&shown["clicks_left"], &shown["state"]], [&json!(0), &json!("exhausted")]);
}

#[test]
fn d131_a_chain_stops_before_a_link_with_a_password() {
    let program = Program::start();
    let (account, visitor) = (program.first_account(), program.visitor());
    create(&account, "closed", json!({}));
    let closed = account.get("/v1/redirects?slug=closed").body["data"][0]["url"].as_str().unwrap().to_owned();
    let chain = json!({"slug": "open", "target_url": closed});
    account.post("/v1/redirects", &redirect_body(chain)).expect_status(201);
    let visit = visitor.open("/open");
    assert_eq!((visit.status, visit.location()), (302, Some(closed.as_str())));
}

/// D131: 1 KiB of password and 2 KiB of body are read, whatever they are announced as.
#[test]
fn d131_a_body_has_at_most_2_kib_and_a_password_1_kib() {
    let program = Program::start();
    create(&program.first_account(), "prices", json!({}));
    let visitor = program.visitor();
    let sent = |body: &str| {
        let headers = [OPENING[0], OPENING[1], ("Content-Type", "application/x-www-form-urlencoded")];
        visitor.request_with("POST", "/prices", &headers, body.as_bytes())
    };
    let password = "password=";
    for (body, status) in [
        (format!("{password}{}", "x".repeat(1_024)), 403),
        (format!("{password}{}", "x".repeat(1_025)), 413),
        // Each character takes three bytes as sent, and one once decoded.
        (format!("{password}{}", "%78".repeat((2_048 - password.len()) / 3)), 403),
        (format!("{password}{}", "%78".repeat(2_048 / 3)), 413),
    ] {
        let visit = sent(&body);
        assert_eq!(visit.status, status, "{} bytes: {visit:?}", body.len());
        assert_gives_nothing_away(&visit);
    }
    // The program answers and closes before it has read such a body.
    let length = 1_000_000;
    let request = format!(
        "POST /prices HTTP/1.1\r\nHost: localhost:8081\r\nUser-Agent: {BROWSER}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{}",
        "x".repeat(length)
    );
    let (status, _, body) = parse_response(&exchange(&program.links, request.as_bytes()));
    assert!(status == 413 && !body.contains("prices"), "{status} {body}");
    let text = [OPENING[0], OPENING[1], ("Content-Type", "application/json")];
    let no_form = visitor.request_with("POST", "/prices", &text, br#"{"password":"plover egg tin"}"#);
    assert_eq!((no_form.status, no_form.location()), (415, None));
    // Forms without the field, or with what no browser sends, have a wrong password.
    for body in ["", "password", "password=", "other=1", "password=a&password=b", "%zz=%", "password=%ff%00"]
    {
        let visit = sent(body);
        assert_eq!(visit.status, 403, "{body}: {visit:?}");
        assert_gives_nothing_away(&visit);
    }
}

/// A request whose body is announced and does not come, or comes byte by byte.
fn trickle(links: &str, headers: &str, piece: &[u8]) -> (String, Duration) {
    let mut stream = TcpStream::connect(links).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let head = format!(
        "POST /prices HTTP/1.1\r\nHost: localhost:8081\r\nUser-Agent: {BROWSER}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n{headers}\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (begun, mut answer, mut buffer) = (Instant::now(), Vec::new(), [0; 1_024]);
    while begun.elapsed() < REFUSED_WITHIN {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                // Once the program has answered and closed, writing fails.
                let _ = stream.write_all(piece);
            }
            Err(_) => break,
        }
    }
    (String::from_utf8_lossy(&answer).into_owned(), begun.elapsed())
}

#[test]
fn d131_a_body_that_does_not_arrive_is_given_up_and_others_are_served() {
    let program = Program::start();
    create(&program.first_account(), "prices", json!({}));
    let cases = [
        ("Content-Length: 30\r\n", b"".as_slice()),
        ("Content-Length: 2000\r\n", b"x"),
        ("Transfer-Encoding: chunked\r\n", b""),
        ("Transfer-Encoding: chunked\r\n", b"1\r\nx\r\n"),
    ];
    let outcomes = concurrently(cases.len() * 8 + 1, |number| match cases.get(number % cases.len()) {
        Some((lines, piece)) if number < cases.len() * 8 => Some(trickle(&program.links, lines, piece)),
        _ => {
            let since = Instant::now();
            while since.elapsed() < Duration::from_secs(2) {
                assert_eq!(send(&program.visitor(), "/prices", PASSWORD).status, 303);
            }
            None
        }
    });
    for (answer, took) in outcomes.into_iter().flatten() {
        assert!(took < REFUSED_WITHIN, "{took:?}: {answer}");
        let is_refused = answer.is_empty() || (400..500).contains(&parse_response(&answer).0);
        assert!(is_refused && !answer.contains("prices?"), "{answer}");
    }
}

/// A length in doubt could hide a second request behind the form.
#[test]
fn d131_a_body_whose_length_is_in_doubt_is_refused() {
    let program = Program::start();
    create(&program.first_account(), "prices", json!({}));
    let body = form(PASSWORD);
    let length = body.len();
    for lines in [
        format!("Content-Length: {length}\r\nContent-Length: {}\r\n", length + 1),
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"),
        format!("Content-Length: +{length}\r\n"),
        "Content-Length: -1\r\n".to_owned(),
        "Transfer-Encoding: gzip, chunked\r\n".to_owned(),
    ] {
        let request = format!(
            "POST /prices HTTP/1.1\r\nHost: localhost:8081\r\nUser-Agent: {BROWSER}\r\nConnection: close\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n{lines}\r\n{body}"
        );
        let answer = exchange(&program.links, request.as_bytes());
        assert!((400..500).contains(&parse_response(&answer).0), "{lines}: {answer}");
        assert!(!answer.contains("prices?"), "{lines}: {answer}");
    }
}

#[test]
fn d131_after_ten_wrong_passwords_in_a_minute_an_address_gets_429_for_that_link() {
    let counted = within_one_minute(|| {
        let program = Program::builder().setting("trusted-proxies", "127.0.0.0/8").start();
        let (account, visitor) = (program.first_account(), program.visitor());
        create(&account, "prices", json!({}));
        create(&account, "other", json!({}));
        let from =
            |path: &str, password: &str, address: &str| send_from(&visitor, path, password, Some(address));
        // Right ones count for nothing.
        let opened = (0..15).filter(|_| from("/prices", PASSWORD, "198.51.100.1").status == 303).count();
        let wrong = (0..30).take_while(|_| from("/prices", "wrong", "198.51.100.1").status == 403).count();
        let stopped = from("/prices", PASSWORD, "198.51.100.1");
        assert_gives_nothing_away(&stopped);
        let after = stopped.header("retry-after").map(|after| after.parse::<u32>().unwrap());
        let others = [
            from("/other", PASSWORD, "198.51.100.1").status,
            from("/prices", PASSWORD, "198.51.100.2").status,
        ];
        (opened, wrong, stopped.status, after, others)
    });
    let (opened, wrong, stopped, after, others) = counted;
    assert_eq!((opened, wrong, stopped, others), (15, 10, 429, [303, 303]));
    assert!((1..=60).contains(&after.unwrap()), "{after:?}");
}

/// D131: one is checked at a time and sixteen wait. The others are turned away at once, and people still sign in (D71).
#[test]
fn d131_a_flood_of_passwords_is_turned_away_and_people_sign_in_meanwhile() {
    let program = Program::builder().setting("trusted-proxies", "127.0.0.0/8").start();
    create(&program.first_account(), "prices", json!({}));
    let (_, id) = Person::owner(&program);
    let email = format!("{}@example.com", &id[4..]);
    let statuses = concurrently(62, |number| {
        if number == 60 {
            assert_is_form(&program.visitor().open("/prices"), 200);
            return 0;
        }
        if number == 61 {
            let signed_in =
                Person::at(&program).post("/sign-in", &[("email", &email), ("password", OWN_PASSWORD)]);
            assert_eq!(signed_in.status, 303, "{}", signed_in.body);
            return 0;
        }
        let visit = send_from(&program.visitor(), "/prices", "wrong", Some(&format!("198.51.100.{number}")));
        assert_gives_nothing_away(&visit);
        if visit.status == 503 {
            assert!(visit.header("retry-after").is_some(), "{visit:?}");
        }
        visit.status
    });
    let count = |status: u16| statuses.iter().filter(|found| **found == status).count();
    assert_eq!(count(403) + count(503), 60, "{statuses:?}");
    assert!(count(403) > 0 && count(503) > 0, "{statuses:?}");
    // Sixty wrong passwords are far from what the link takes in a minute.
    let opened = send_from(&program.visitor(), "/prices", PASSWORD, Some("198.51.100.100"));
    assert_eq!(opened.status, 303);
}
