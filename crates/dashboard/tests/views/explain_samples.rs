//! Samples of the page that tests a link.

use signpost_app::explain::{Check, StepResult, VisitOutcome};
use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    Choice, ExplainPage, ExplanationView, Field, Label, NamedId, NavItem, Select, StepRow, Tone, VisitForm,
};
use signpost_domain::CountryCode;

use crate::life_samples::refused_life;
use crate::link_samples::LONG;
use crate::samples::Maker;

/// The form before an address is typed, a visit with every part, and one with every mistake.
pub(crate) fn add(m: &Maker) {
    let words = ENGLISH.life.explain;
    let empty = ExplainPage {
        shell: m.shell(words.title, NavItem::Links),
        link: None,
        action: m.w("/acc_019b5a3b11aa7c3e8899aabbccddee01/test"),
        visit: VisitForm { url: Some(Field::default()), ..form(m) },
        answer: None,
    };
    m.add("explain-empty", &empty);
    let link = NamedId { id: m.w("rdr_019b5a3ba0b17d2e9f00112233440001"), name: m.w(LONG) };
    let full = ExplainPage {
        link: Some(link),
        visit: VisitForm {
            user_agent: m.field("Mozilla/5.0 (Linux; Android 10; K)"),
            language: m.field("de-AT,en;q=0.5"),
            referrer: m.field("https://news.example.com/a/rather/long/path"),
            query: m.field("plan=pro&utm_source=newsletter"),
            address: m.field("2001:db8::7"),
            ..form(m)
        },
        answer: Some(answer(m, VisitOutcome::Redirect)),
        ..empty.clone()
    };
    m.add("explain", &full);
    m.add("explain-blocked", &ExplainPage { answer: Some(answer(m, VisitOutcome::Blocked)), ..full.clone() });
    let viewer = ExplainPage { shell: m.loud_shell(words.title, NavItem::Links), ..full };
    m.add("explain-viewer", &viewer);
    let visit = VisitForm {
        url: Some(m.bad("ftp://", "Must be a URL that begins with http:// or https://.")),
        country: Select { error: m.some("Must be a country code of ISO 3166-1."), ..form(m).country },
        user_agent: m.bad(LONG, "Must have at most 2048 characters."),
        language: m.bad(LONG, "Must have at most 2048 characters."),
        referrer: m.bad(LONG, "Must have no control characters."),
        query: m.bad(LONG, "Must have at most 4096 characters."),
        at: refused_life(m).starts_at,
        address: m.bad("192.0.2", "Must be an IPv4 or IPv6 address, such as 203.0.113.9."),
        ..form(m)
    };
    m.add("explain-error", &ExplainPage { visit, ..empty });
}

fn form(m: &Maker) -> VisitForm {
    let words = ENGLISH.life.explain;
    let country = |country: CountryCode| {
        let code = country.as_str();
        Choice::new(code, (words.country_name)(code).unwrap_or(code), code == "DE")
    };
    let agents = [("", words.agent_usual), ("iphone", words.agent_iphone), ("none", words.agent_none)];
    VisitForm {
        country: Select { options: CountryCode::all().map(country).collect(), error: None },
        agent: m.select(&agents),
        zone: m.w("Europe/Berlin"),
        ..VisitForm::default()
    }
}

/// Every check, with another result each.
fn answer(m: &Maker, outcome: VisitOutcome) -> ExplanationView {
    let words = ENGLISH.life.explain;
    let [title, text] = (words.outcome)(outcome);
    let results = StepResult::ALL.into_iter().zip([Tone::Good, Tone::Bad, Tone::Neutral]).cycle();
    let step = |(check, (result, tone)): (Check, (StepResult, Tone))| StepRow {
        check: (words.check)(check).to_owned(),
        result: Label { text: (words.result)(result).to_owned(), tone },
        reason: m.w("The rule `german` holds, because the visitor is in Germany."),
    };
    let is_redirect = outcome == VisitOutcome::Redirect;
    ExplanationView {
        title: title.to_owned(),
        text: text.to_owned(),
        reason: (!is_redirect).then(|| m.w("The link blocks visitors from France.")),
        is_turned_away: !is_redirect,
        status: Some(m.w(if is_redirect { "302" } else { "403" })),
        location: is_redirect.then(|| m.w("https://shop.morgenbrot.example/de/herbst?utm_source=newsletter")),
        rule: is_redirect.then(|| m.w(&(words.variant)("german", "new"))),
        steps: Check::ALL.into_iter().zip(results).map(step).collect(),
    }
}
