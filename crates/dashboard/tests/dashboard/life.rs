//! When links work, and where they lead afterwards: the forms of both kinds of links, the list and the pages (D128).

use std::time::Duration;

use signpost_domain::{HostBlocklist, Life, Link, Role, Schedule, Timestamp};

use crate::edits::link;
use crate::harness::{Answer, Browser, Dashboard};

const KINDS: [&str; 2] = ["redirect", "landing"];

/// What the forms of both kinds need. Each ignores the fields of the other.
pub fn fields<'a>(kind: &'a str, slug: &'a str, life: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        ("kind", kind),
        ("target_url", "https://example.com/"),
        ("name", "One"),
        ("title", "One"),
        ("theme", "auto"),
        ("slug", slug),
        ("domain", "go.example.com"),
        ("is_active", "on"),
    ];
    fields.extend_from_slice(life);
    fields
}

pub async fn create(editor: &Browser, kind: &str, slug: &str, life: &[(&str, &str)]) -> Answer {
    editor.post(&editor.dashboard.path("links"), &fields(kind, slug, life)).await
}

/// Saves the form of a link, with the revision that its page shows now.
pub async fn save(editor: &Browser, id: &str, slug: &str, life: &[(&str, &str)]) -> Answer {
    let path = editor.dashboard.path(&format!("links/{id}"));
    let revision = editor.get(&path).await.hidden("revision");
    let mut form = fields("", slug, life);
    form.push(("revision", &revision));
    editor.post(&path, &form).await
}

pub async fn page_of(editor: &Browser, id: &str) -> Answer {
    editor.get(&editor.dashboard.path(&format!("links/{id}"))).await
}

/// The tag of an input.
pub fn input<'a>(page: &'a Answer, name: &str) -> &'a str {
    let start = format!("input id=\"f-{name}\" ");
    page.body.split('<').find(|tag| tag.starts_with(&start)).unwrap_or_else(|| panic!("{}", page.body))
}

/// The value of an input.
pub fn value(page: &Answer, name: &str) -> String {
    input(page, name).split_once("value=\"").unwrap().1.split('"').next().unwrap().to_owned()
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// The start, the end and the fallback of a link.
fn life(link: &Link) -> [Option<String>; 3] {
    let Life { schedule, fallback_url } = &link.life;
    let instant = |at: Option<Timestamp>| at.map(|at| at.to_string());
    [
        instant(schedule.starts_at()),
        instant(schedule.expires_at()),
        fallback_url.as_ref().map(|url| url.as_str().to_owned()),
    ]
}

#[actix_web::test]
async fn d128_forms_take_the_life_of_a_link_in_the_zone_of_the_person() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    for kind in KINDS {
        let new = editor.get(&dashboard.path(&format!("links/new?kind={kind}"))).await;
        let zone = new.hidden("zone");
        assert_eq!(zone, "Europe/Berlin");
        assert_eq!(new.body.matches("In the time zone Europe/Berlin.").count(), 2, "{}", new.body);
        assert!(input(&new, "starts_at").contains("type=datetime-local"), "{}", new.body);
        let typed = [
            ("zone", zone.as_str()),
            ("starts_at", "2026-03-01T09:00"),
            ("expires_at", "2026-07-01T18:30"),
            ("fallback_url", "www.example.com/over"),
        ];
        let id = create(&editor, kind, kind, &typed).await.followed_id();
        let made = link(&dashboard, &id).await;
        let stored = ["2026-03-01T08:00:00.000Z", "2026-07-01T16:30:00.000Z", "https://www.example.com/over"];
        assert_eq!(life(&made), stored.map(|text| Some(text.to_owned())));
        let page = page_of(&editor, &id).await;
        let shown = ["starts_at", "expires_at", "fallback_url"].map(|name| value(&page, name));
        assert_eq!(shown, ["2026-03-01T09:00", "2026-07-01T18:30", "https://www.example.com/over"]);
        assert!(page.body.contains("<details class=\"more\" open><summary>Start and end"), "{}", page.body);
        for (part, name) in stored.iter().zip(["starts_at", "expires_at", "fallback_url"]) {
            let twin = format!("&#34;{name}&#34;:&#34;{part}&#34;");
            assert!(page.body.contains(&twin), "the API can do it too, {twin}: {}", page.body);
        }
        // What is saved as it was shown changes nothing, and empty fields remove everything.
        let same = [
            ("zone", "Europe/Berlin"),
            ("starts_at", shown[0].as_str()),
            ("expires_at", shown[1].as_str()),
            ("fallback_url", shown[2].as_str()),
        ];
        assert_eq!(save(&editor, &id, kind, &same).await.status, 303);
        assert_eq!(link(&dashboard, &id).await, made);
        let empty = [("starts_at", ""), ("expires_at", " "), ("fallback_url", "")];
        assert_eq!(save(&editor, &id, kind, &empty).await.status, 303);
        assert_eq!(link(&dashboard, &id).await.life, Life::default());
    }
}

#[actix_web::test]
async fn d128_a_form_keeps_the_zone_in_which_it_was_shown() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    for (zone, start) in [
        // The person has chosen another zone in another tab.
        ("Asia/Kolkata", "2026-11-26T03:30:00Z"),
        ("Mars/Olympus", "2026-11-26T08:00:00Z"),
    ] {
        let typed = [("zone", zone), ("starts_at", "2026-11-26T09:00")];
        let id = create(&editor, "redirect", "", &typed).await.followed_id();
        assert_eq!(link(&dashboard, &id).await.life.schedule.starts_at(), Some(at(start)), "{zone}");
    }
    let refused = [("zone", "Asia/Kolkata"), ("starts_at", "2026-11-26T09:00"), ("fallback_url", "over")];
    let refused = create(&editor, "redirect", "", &refused).await;
    assert_eq!((refused.status, refused.hidden("zone").as_str()), (422, "Asia/Kolkata"));
    assert!(refused.body.contains("In the time zone Asia/Kolkata."), "{}", refused.body);
}

#[actix_web::test]
async fn d128_a_refused_life_is_blamed_on_its_field_and_keeps_what_was_typed() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let (start, over) = ("2026-03-01T09:00", "https://example.com/over");
    let own = "https://go.example.com/mine";
    for kind in KINDS {
        for (typed, blamed, reason) in [
            ([start, start, over], "expires_at", "Must be later than the start."),
            (["tomorrow", start, over], "starts_at", "Must be a date with a time such as 2026-11-26T09:00."),
            (["1969-12-31T09:00", start, over], "starts_at", "Must be in the years 1970 to 9999."),
            ([start, "2026-04-01", over], "expires_at", "Must be a date with a time"),
            ([start, "", "ftp://example.com/"], "fallback_url", "begins with http:// or https://"),
            ([start, "", own], "fallback_url", "Would make the link point at its own public address."),
            // An hour that the clock leaves out.
            (
                ["2026-03-29T02:30", "", over],
                "starts_at",
                "Does not exist in the time zone Europe/Berlin: the clock goes from 29 Mar 2026, 01:59 straight to 29 Mar 2026, \
                 03:00. Choose an earlier or a later time.",
            ),
        ] {
            let names = ["starts_at", "expires_at", "fallback_url"];
            let life: Vec<(&str, &str)> = names.into_iter().zip(typed).collect();
            let refused = create(&editor, kind, "mine", &life).await;
            assert_eq!(refused.status, 422, "{typed:?}");
            assert!(input(&refused, blamed).contains("aria-invalid=\"true\""), "{typed:?}: {}", refused.body);
            assert_eq!(refused.body.matches("aria-invalid").count(), 1, "{typed:?}: {}", refused.body);
            let message = format!("id=\"e-{blamed}\">");
            let (_, shown) = refused.body.split_once(&message).unwrap();
            assert!(shown.split('<').next().unwrap().contains(reason), "{typed:?}: {}", refused.body);
            assert_eq!(names.map(|name| value(&refused, name)), typed, "{}", refused.body);
            assert!(
                refused.body.contains("<details class=\"more\" open><summary>Start and end"),
                "{typed:?}"
            );
        }
    }
    // An input for times would show nothing of it.
    let text = create(&editor, "redirect", "mine", &[("starts_at", "tomorrow")]).await;
    assert!(input(&text, "starts_at").contains("type=text"), "{}", text.body);
}

#[actix_web::test]
async fn d128_an_hour_that_the_clock_shows_twice_asks_which_is_meant() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let twice = ("expires_at", "2026-10-25T02:30");
    for kind in KINDS {
        let asked = create(&editor, kind, kind, &[twice]).await;
        assert_eq!(asked.status, 422);
        for part in [
            "Comes twice in the time zone Europe/Berlin",
            "End: which of the two?",
            "<option value=\"\" selected>Choose one",
            "<option value=\"first\">The first one, 00:30 in UTC",
            "<option value=\"second\">The second one, 01:30 in UTC",
        ] {
            assert!(asked.body.contains(part), "{part}: {}", asked.body);
        }
        assert!(!asked.body.contains("starts_at_which"), "{}", asked.body);
        let id = create(&editor, kind, kind, &[twice, ("expires_at_which", "second")]).await.followed_id();
        let second = link(&dashboard, &id).await;
        assert_eq!(second.life.schedule.expires_at(), Some(at("2026-10-25T01:30:00Z")));
        let page = page_of(&editor, &id).await;
        assert!(page.body.contains("<option value=\"second\" selected>"), "{}", page.body);
        assert_eq!(save(&editor, &id, kind, &[twice, ("expires_at_which", "second")]).await.status, 303);
        assert_eq!(link(&dashboard, &id).await, second, "what was shown changes nothing");
        assert_eq!(save(&editor, &id, kind, &[twice, ("expires_at_which", "first")]).await.status, 303);
        let first = link(&dashboard, &id).await;
        assert_eq!(first.life.schedule.expires_at(), Some(at("2026-10-25T00:30:00Z")));
        assert_eq!(save(&editor, &id, kind, &[twice]).await.status, 422, "the same text alone is not clear");
    }
}

/// The API takes instants to the millisecond, up to the end of the year 9999.
#[actix_web::test]
async fn d128_times_that_are_saved_as_shown_stay_to_the_millisecond() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    let before = link(&dashboard, &id).await;
    let schedule = Schedule::new(Some(at("2026-01-31T09:05:07.042Z")), Some(Timestamp::LAST)).unwrap();
    let precise = Link { life: Life { schedule, fallback_url: None }, ..before.clone() };
    let mut work = dashboard.app.store.begin().await.unwrap();
    work.lock_link(dashboard.account, before.id()).await.unwrap().unwrap();
    work.update_link(dashboard.account, &before, &precise).await.unwrap();
    work.commit().await.unwrap();
    let page = page_of(&editor, &id).await;
    let [start, end] = ["starts_at", "expires_at"].map(|name| value(&page, name));
    assert_eq!([start.as_str(), end.as_str()], ["2026-01-31T10:05:07.042", "9999-12-31T23:59:59.999"]);
    assert!(input(&page, "starts_at").contains("step=.001"), "{}", page.body);
    let saved = save(&editor, &id, "two", &[("starts_at", &start), ("expires_at", &end)]).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let saved = link(&dashboard, &id).await;
    assert_eq!((saved.placement.slug().unwrap().as_str(), saved.life.schedule), ("two", schedule));
}

#[actix_web::test]
async fn d24_d128_a_move_to_the_address_of_the_own_fallback_is_blamed_on_the_fallback() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    for kind in KINDS {
        let other = format!("other-{kind}");
        let fallback = format!("https://go.example.com/{other}");
        let fallback = [("fallback_url", fallback.as_str())];
        let id = create(&editor, kind, kind, &fallback).await.followed_id();
        let refused = save(&editor, &id, &other, &fallback).await;
        assert_eq!(refused.status, 422);
        assert!(refused.body.contains("id=\"e-fallback_url\">Would make the link"), "{}", refused.body);
        assert!(!refused.body.contains("id=\"e-slug\""), "{}", refused.body);
        assert_eq!(value(&refused, "slug"), other);
        assert_eq!(save(&editor, &id, kind, &fallback).await.status, 303);
    }
    // An address that was allowed when it was written may stay.
    let fallback = [("fallback_url", "https://blocked.example/")];
    let id = create(&editor, "landing", "page", &fallback).await.followed_id();
    dashboard.memory.target_blocklist.replace(HostBlocklist::parse("blocked.example").unwrap());
    let note = [fallback[0], ("note", "Changed")];
    assert_eq!(save(&editor, &id, "page", &note).await.status, 303);
    assert_eq!(create(&editor, "landing", "new", &fallback).await.status, 422);
}

#[actix_web::test]
async fn d120_d128_a_stale_edit_shows_both_lives() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    for kind in KINDS {
        let id = create(&editor, kind, kind, &[]).await.followed_id();
        let path = dashboard.path(&format!("links/{id}"));
        let revision = page_of(&editor, &id).await.hidden("revision");
        let theirs = [
            ("starts_at", "2026-03-01T09:00"),
            ("expires_at", "2026-10-25T02:30"),
            ("expires_at_which", "first"),
            ("fallback_url", "https://example.com/theirs"),
        ];
        assert_eq!(save(&editor, &id, kind, &theirs).await.status, 303);
        let mut mine = fields(
            "",
            kind,
            &[
                ("starts_at", "2026-04-01T09:00"),
                ("expires_at", "2026-10-25T02:30"),
                ("expires_at_which", "second"),
                ("fallback_url", "https://example.com/mine"),
            ],
        );
        mine.push(("revision", &revision));
        let stale = editor.post(&path, &mine).await;
        assert_eq!(stale.status, 409, "{}", stale.body);
        for (label, yours, stored) in [
            ("Start", "2026-04-01 09:00", "2026-03-01 09:00"),
            (
                "End",
                "2026-10-25 02:30 (The second one, 01:30 in UTC)",
                "2026-10-25 02:30 (The first one, 00:30 in UTC)",
            ),
            ("Address after the end", "https://example.com/mine", "https://example.com/theirs"),
        ] {
            let (_, rest) = stale.body.split_once(&format!("<h3>{label}</h3>")).unwrap();
            let both = rest.split("</div>").next().unwrap();
            assert!(both.contains(&format!("<bdi>{yours}</bdi>")), "{yours}: {both}");
            assert!(both.contains(&format!("<bdi>{stored}</bdi>")), "{stored}: {both}");
        }
        assert_eq!(value(&stale, "starts_at"), "2026-04-01T09:00");
    }
}

#[actix_web::test]
async fn d128_the_list_and_the_page_of_a_link_show_its_state() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let shows = async |id: &str, badge: &str| {
        let page = page_of(&editor, id).await.body;
        assert!(
            page.contains(&format!("<h1><bdi>One</bdi> <b class=\"tag{badge}</b></h1>")),
            "{badge}: {page}"
        );
        let list = editor.get(&dashboard.path("links")).await.body;
        let row = list.split("<li").find(|row| row.contains(id)).unwrap();
        // Links that open are most, and need no badge.
        let is_open = badge.ends_with(">Active");
        assert_eq!(row.contains(&format!("<b class=\"tag{badge}</b>")), !is_open, "{badge}: {row}");
        assert_eq!(row.starts_with(" class=\"off\""), !is_open, "{badge}: {row}");
    };
    // The clock shows 10:05 in Berlin.
    let life = [("starts_at", "2026-01-31T10:06"), ("expires_at", "2026-01-31T10:07")];
    for (kind, saved) in KINDS.into_iter().zip(["Your link is saved, and", "The page is saved, and"]) {
        let made = create(&editor, kind, kind, &life).await;
        let page = editor.get(made.location()).await.body;
        assert!(page.contains(&format!("{saved} does not open now")) && !page.contains(" is live"), "{page}");
        shows(&made.followed_id(), "\">Scheduled, opens 31 Jan 2026, 10:06").await;
    }
    let ids = async || {
        let list = editor.get(&dashboard.path("links")).await.body;
        let ids = list
            .split("name=\"ids\" value=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().to_owned());
        ids.collect::<Vec<_>>()
    };
    let ids = ids().await;
    assert_eq!(ids.len(), 2);
    for badge in [" on\">Active", "\">Expired, ended 31 Jan 2026, 10:07"] {
        dashboard.memory.clock.advance(Duration::from_mins(1));
        for id in &ids {
            shows(id, badge).await;
        }
    }
    let form: Vec<_> =
        fields("redirect", "off", &[]).into_iter().filter(|(name, _)| *name != "is_active").collect();
    let off = editor.post(&dashboard.path("links"), &form).await.followed_id();
    shows(&off, "\">Inactive").await;
}
