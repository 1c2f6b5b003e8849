//! Tests of links in English.

use signpost_app::explain::{Check, StepResult, VisitOutcome};

use crate::texts::ExplainTexts;
use crate::texts::english_countries::country;

pub(super) static EXPLAIN: ExplainTexts = ExplainTexts {
    address: "IP address",
    address_hint: "For rules about networks, for splits, and for the country if none is chosen. It is not stored.",
    agent: "Program",
    agent_android: "Android phone with Chrome",
    agent_googlebot: "Googlebot, a search engine",
    agent_iphone: "iPhone with Safari",
    agent_mac: "Mac with Safari",
    agent_none: "A program that does not name itself",
    agent_usual: "Windows with Chrome",
    agent_whatsapp: "WhatsApp, which shows a preview",
    at: "Time",
    at_hint: |a| format!("In the time zone {a}. Empty: now. Everything else about the link is as it is now."),
    check,
    country: "Country",
    country_hint: "Unknown: the country of the IP address, if that is known.",
    country_name: country,
    country_unknown: "Unknown",
    curl_address: "Explain this address",
    curl_link: "Test this link",
    language: "Language",
    language_hint: "Such as de, or what browsers send: de-AT,en;q=0.5. Empty: none.",
    lead: "What a visitor would get, and why. It is no visit: nothing is counted, and no click of a limit is used.",
    location: "Leads to",
    more: "More about the visitor",
    other_address: "Test another address",
    outcome,
    query: "Parameters",
    query_hint: "What follows the question mark, such as plan=pro.",
    referrer: "Comes from",
    referrer_hint: "The address of a page, such as https://news.example.com/. Empty: from nowhere.",
    result,
    rule: "Rule",
    status: "Status",
    steps: "How it was decided",
    steps_hint: "Every visit is checked in this order. The first check that stops it decides.",
    test: "Test",
    test_address: "Test an address",
    test_link: "Test this link",
    title: "Test a link",
    unknown: [
        "No link of yours",
        "No link of this account is at this address. What visitors get there is not told here: somebody else may have a link there, or the domain sends them on.",
    ],
    url: "Address",
    url_hint: "Any short address, with or without parameters. Only links of this account are known here.",
    user_agent: "Another program",
    user_agent_hint: "What it sends as User-Agent. It counts instead of the choice above.",
    variant: |a, b| format!("{a}, variant {b}"),
    visit: "The visitor",
};

const fn check(check: Check) -> &'static str {
    match check {
        Check::Existence => "Link",
        Check::Start => "Start",
        Check::End => "End",
        Check::Antibot => "Bots",
        Check::Country => "Country",
        Check::Preview => "Preview card",
        Check::Password => "Password",
        Check::Rules => "Rules",
        Check::Credit => "Limit of clicks",
        Check::Pixels => "Pixels",
        Check::Answer => "Answer",
    }
}

const fn result(result: StepResult) -> &'static str {
    match result {
        StepResult::Pass => "Passed",
        StepResult::Stop => "Stopped here",
        StepResult::Skip => "Not reached",
    }
}

const fn outcome(outcome: VisitOutcome) -> [&'static str; 2] {
    match outcome {
        VisitOutcome::Redirect => ["Sent on", "The visitor is sent to another address."],
        VisitOutcome::Page => ["The page", "The visitor sees the landing page."],
        VisitOutcome::Password => ["A form for the password", "The link opens after the right password."],
        VisitOutcome::Preview => {
            ["The preview card", "The program gets the card that messengers show, and not the target."]
        }
        VisitOutcome::Blocked => ["Turned away", "The visitor gets a short page instead of the target."],
        VisitOutcome::Expired => ["It has ended", "The visitor gets what the link shows after its end."],
        VisitOutcome::NotFound => {
            ["Nothing is there", "The visitor gets what the domain shows where no link is."]
        }
        VisitOutcome::Unavailable => [
            "Not for programs",
            "The link has a limit of clicks, and this program would use one without a person. It gets no target.",
        ],
    }
}
