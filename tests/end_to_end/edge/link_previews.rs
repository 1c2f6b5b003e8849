//! The cards that messengers get of redirects, and everybody else the redirect (D135, D137).

use std::fs;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::harness::domains::path_of;
use crate::harness::{BROWSER, Program, Visit, Visitor, redirect_body};

const TARGET: &str = "https://shop.example.com/offer?id=7";

/// How each of twelve messengers asks for a link that somebody sends.
const MESSENGERS: [(&str, &str); 12] = [
    ("WhatsApp", "WhatsApp/2.23.20.0"),
    ("Telegram", "TelegramBot (like TwitterBot)"),
    ("Signal", "WhatsApp/2"),
    (
        "iMessage",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 \
         facebookexternalhit/1.1 Facebot Twitterbot/1.0",
    ),
    ("Messenger", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"),
    ("Slack", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"),
    ("Discord", "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"),
    (
        "Teams",
        "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
    ),
    ("Viber", "Viber/13.3.0.5 CFNetwork/1126 Darwin/19.5.0"),
    ("KakaoTalk", "facebookexternalhit/1.1; kakaotalk-scrap/1.0; +https://devtalk.kakao.com/t/scrap/33984"),
    ("LINE", "facebookexternalhit/1.1;line-poker/1.0"),
    ("Matrix", "Synapse (bot; +https://github.com/matrix-org/synapse)"),
];

/// People, also those who open a link within an app.
const BROWSERS: [&str; 3] = [
    BROWSER,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/140.0.0.0 Mobile \
     Safari/537.36 [FB_IAB/FB4A;FBAV/440.0.0.0;]",
];

/// Search engines and scripts.
const BOTS: [&str; 5] = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) \
     Chrome/140.0.7339.127 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "curl/8.14.1",
    "",
];

/// A card with every part, with characters that have a meaning in HTML.
fn card() -> Value {
    json!({
        "title": "\"Herbst\" <b>& mehr</b>",
        "description": "Bis Sonntag.\nDie Hälfte von allem.",
        "image_url": "https://example.com/herbst.jpg?w=1200&h=630",
    })
}

fn visit(visitor: &Visitor, method: &str, path: &str, agent: &str) -> Visit {
    visitor.request(method, path, &[("Host", "localhost:8081"), ("User-Agent", agent)])
}

/// The text that a property of the card has, as a previewer reads it.
fn property(visit: &Visit, name: &str) -> Option<String> {
    let (_, rest) = visit.body.split_once(&format!("<meta property=\"{name}\" content=\""))?;
    let text = rest.split('"').next().unwrap();
    let escapes =
        [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#10;", "\n"), ("&#38;", "&")];
    Some(escapes.iter().fold(text.to_owned(), |text, (escape, sign)| text.replace(escape, sign)))
}

/// Asserts that an answer is the card, and says nothing of the target.
#[track_caller]
fn assert_card(visit: &Visit, card: &Value, url: &str, who: &str) {
    assert_eq!((visit.status, visit.location()), (200, None), "{who}: {visit:?}");
    assert_eq!(visit.header("content-type"), Some("text/html; charset=utf-8"), "{who}");
    for (name, part) in [("og:title", "title"), ("og:description", "description"), ("og:image", "image_url")]
    {
        assert_eq!(property(visit, name).as_deref(), card[part].as_str(), "{who}, {name}: {}", visit.body);
    }
    assert_eq!(property(visit, "og:url").as_deref(), Some(url), "{who}: {}", visit.body);
    assert!(!visit.body.contains("shop.example.com"), "{who}: {}", visit.body);
}

#[test]
fn d135_messengers_get_the_card_and_everybody_else_the_redirect() {
    let program = Program::start();
    let account = program.account("agency");
    let body = json!({"slug": "offer", "target_url": TARGET, "preview": card()});
    let link = account.create_redirect(&redirect_body(body));
    assert_eq!(link["preview"], card());
    let url = link["url"].as_str().unwrap();
    let visitor = program.visitor();
    for (who, agent) in MESSENGERS {
        assert_card(&visit(&visitor, "GET", "/offer", agent), &card(), url, who);
        // The card has the address that the API shows, whatever was shared.
        assert_card(&visit(&visitor, "GET", "/offer?fbclid=x", agent), &card(), url, who);
    }
    for agent in BROWSERS.iter().chain(&BOTS) {
        for method in ["GET", "HEAD"] {
            let sent = visit(&visitor, method, "/offer", agent);
            assert_eq!((sent.status, sent.location()), (302, Some(TARGET)), "{method} {agent}");
            assert_eq!(sent.body, "", "{method} {agent}");
        }
    }
    let head = visit(&visitor, "HEAD", "/offer", MESSENGERS[0].1);
    assert_eq!((head.status, head.location(), head.body.as_str()), (200, None, ""));

    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let hour = Duration::from_hours(1);
    let (start, end) = (now.checked_sub(hour).unwrap().as_millis(), (now + hour).as_millis());
    let path = format!("{}/analytics?start_date={start}&end_date={end}", path_of(&link));
    let recorded = || {
        let answer = account.get(&path).expect_status(200);
        ["clicks", "bots"].map(|name| usize::try_from(answer.body["totals"][name].as_u64().unwrap()).unwrap())
    };
    let expected = [BROWSERS.len(), 2 * MESSENGERS.len() + BOTS.len()];
    let began = Instant::now();
    while recorded() != expected {
        assert!(began.elapsed() < Duration::from_mins(1), "{:?} are recorded, not {expected:?}", recorded());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn d135_a_change_reaches_the_next_previewer() {
    let program = Program::start();
    let account = program.first_account();
    let visitor = program.visitor();
    let link = account.create_redirect(&redirect_body(json!({"slug": "offer", "target_url": TARGET})));
    let (path, url) = (path_of(&link), link["url"].as_str().unwrap());
    let preview = || visit(&visitor, "GET", "/offer", MESSENGERS[0].1);
    assert_eq!(preview().location(), Some(TARGET));
    for card in [card(), json!({"title": "Plain", "description": null, "image_url": null})] {
        account.patch(&path, &json!({ "preview": card })).expect_status(200);
        assert_card(&preview(), &card, url, "WhatsApp");
    }
    account.patch(&path, &json!({"preview": null})).expect_status(200);
    assert_eq!(preview().location(), Some(TARGET));
}

/// D129: dates, bots and countries come before the card, and the password, the rules and the limit of visits after it.
#[test]
fn d129_d135_a_card_has_its_place_among_the_checks() {
    let program = Program::start();
    let account = program.first_account();
    let visitor = program.visitor();
    let whatsapp = MESSENGERS[0].1;
    let create = |slug: &str, fields: Value| {
        let mut body = json!({"slug": slug, "target_url": TARGET, "preview": card()});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        account.create_redirect(&redirect_body(body))
    };
    for (slug, fields) in [
        ("password", json!({"password": "plover egg tin"})),
        ("limited", json!({"max_clicks": 1})),
        ("guarded", json!({"antibot_enabled": true})),
        ("ruled", json!({"rules": [{"conditions": [], "target_url": "https://shop.example.com/rule"}]})),
        ("permanent", json!({"redirect_status": 301})),
    ] {
        let link = create(slug, fields);
        let preview = visit(&visitor, "GET", &format!("/{slug}"), whatsapp);
        assert_card(&preview, &card(), link["url"].as_str().unwrap(), slug);
    }
    let form = visit(&visitor, "GET", "/password", BROWSER);
    assert!(form.status == 200 && form.body.contains("name=\"password\""), "{form:?}");
    assert_eq!(visit(&visitor, "GET", "/guarded", "curl/8.14.1").status, 403);
    // The preview has used no visit.
    assert_eq!(visit(&visitor, "GET", "/limited", "curl/8.14.1").status, 503);
    assert_eq!(visit(&visitor, "GET", "/limited", BROWSER).location(), Some(TARGET));
    let permanent = visit(&visitor, "GET", "/permanent", BROWSER);
    assert_eq!((permanent.status, permanent.location()), (301, Some(TARGET)));

    create("scheduled", json!({"starts_at": "2099-01-01T00:00:00Z"}));
    create("expired", json!({"expires_at": "2020-01-01T00:00:00Z"}));
    create("inactive", json!({"is_active": false}));
    for (slug, status) in [("scheduled", 404), ("expired", 410), ("inactive", 404)] {
        let preview = visit(&visitor, "GET", &format!("/{slug}"), whatsapp);
        assert!(preview.status == status && !preview.body.contains("Herbst"), "{slug}: {preview:?}");
    }
    // A link to one with a card leads to its address, where previewers get the card.
    let carded = create("carded", json!({}));
    account.create_redirect(&redirect_body(json!({"slug": "first", "target_url": carded["url"]})));
    for agent in [whatsapp, BROWSER] {
        assert_eq!(visit(&visitor, "GET", "/first", agent).location(), carded["url"].as_str(), "{agent}");
    }
}

#[test]
fn d135_files_move_cards() {
    let here = Program::start();
    let account = here.account("agency");
    let body = json!({"slug": "offer", "target_url": TARGET, "preview": card()});
    let link = account.create_redirect(&redirect_body(body));
    account.create_redirect(&redirect_body(json!({"slug": "short", "preview": {"title": "Plain"}})));
    account.create_redirect(&redirect_body(json!({"slug": "plain"})));
    for file in ["all.jsonl", "all.csv"] {
        let exported = here.run(&["export", "--account", account.id(), "--output", file]);
        assert!(exported.status.success(), "{exported:?}");
        let there = Program::start();
        let other = there.account("agency");
        fs::copy(here.folder().join(file), there.folder().join(file)).unwrap();
        // The second import changes nothing.
        for _ in 0..2 {
            let imported = there.run(&["import", "--account", other.id(), file]);
            assert!(imported.status.success(), "{imported:?}");
        }
        for link in account.walk("/v1/redirects", "") {
            let [before, after] = [&account, &other].map(|account| account.get(&path_of(&link)).body);
            assert_eq!(after["preview"], before["preview"], "{file}: {link}");
        }
        let preview = there.visitor().request_until(
            "/offer",
            &[("Host", "localhost:8081"), ("User-Agent", MESSENGERS[0].1)],
            200,
            Duration::from_secs(20),
        );
        assert_card(&preview, &card(), link["url"].as_str().unwrap(), file);
    }
}

#[test]
fn d137_a_new_card_needs_the_plan_and_one_that_is_there_outlives_it() {
    let starter = "[plans.starter]\nextends = \"agency\"\nfeatures = [\"link_access\"]\n";
    let program = Program::builder().plan(starter).start();
    let account = program.account("agency");
    let body = |slug: &str| redirect_body(json!({"slug": slug, "target_url": TARGET, "preview": card()}));
    let link = account.create_redirect(&body("offer"));
    let path = path_of(&link);
    assert!(program.run(&["account", "set-plan", account.id(), "starter"]).status.success());

    let missing = "feature_not_available_on_current_plan";
    account.post("/v1/redirects", &body("another")).expect_error(403, missing);
    account.patch(&path, &json!({"preview": {"title": "Another"}})).expect_error(403, missing);
    let kept = account.patch(&path, &json!({"note": "x", "preview": card()})).expect_status(200);
    assert_eq!(kept.body["preview"], card());
    let preview = visit(&program.visitor(), "GET", "/offer", MESSENGERS[0].1);
    assert_card(&preview, &card(), link["url"].as_str().unwrap(), "after the downgrade");
    account.patch(&path, &json!({"preview": null})).expect_status(200);
    account.patch(&path, &json!({"preview": card()})).expect_error(403, missing);

    // The plan `free` has no API, so its account gets links from a file.
    let free = program.account("free");
    let table =
        "slug,target_url,preview_title\nfree,https://example.com/,Sale\nplain,https://example.com/,\n";
    fs::write(program.folder().join("cards.csv"), table).unwrap();
    let imported = program.run(&["import", "--json", "--account", free.id(), "cards.csv"]);
    let report = String::from_utf8(imported.stdout).unwrap();
    let rows: Vec<Value> = report.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        [&rows[0]["code"], &rows[0]["outcome"], &rows[1]["outcome"]],
        [&json!(missing), &json!("failed"), &json!("created")],
        "{report}"
    );
}
