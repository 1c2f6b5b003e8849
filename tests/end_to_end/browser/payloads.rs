//! Texts of page owners are shown as they are, and never run (R23).

use serde_json::{Value, json};

use crate::harness::Program;
use crate::soundness::assert_inert;
use crate::tab::Tab;
use crate::visitor::Visitor;

/// One payload for each known way to break out of a page. `crates/pages` tests all of them on its HTML.
const PAYLOADS: [&str; 26] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<base href=//evil.example/>",
    "</style><style>@import'//evil.example/x.css'",
    "</title><script>alert(1)</script>",
    "</noscript><img src=x onerror=alert(1)>",
    "</textarea></template></svg><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<!--<img src=\"--><img src=x onerror=alert(1)//\">",
    "\" onmouseover=\"alert(1)\" autofocus onfocus=\"alert(1)\" x=\"",
    "' onmouseover='alert(1)' autofocus onfocus='alert(1)' x='",
    "}*{background:url(//evil.example)}</style>",
    "{{ 7*7 }}{% include \"x\" %}${alert(1)}",
    "&lt;script&gt;alert(1)&lt;/script&gt;&#60;img src=x onerror=alert(1)&#62;",
    "javascript:alert(1)",
    "); alert(1); //",
];

/// A page with the payload in every text.
fn page(slug: &str, payload: &str) -> Value {
    let url = "https://example.com/?'><script>alert(1)</script>#\"onload=alert(1)";
    let network: String = payload.chars().take(50).collect();
    json!({
        "title": payload, "slug": slug, "description": payload, "avatar_url": "https://example.com/'\"><img/src=x>",
        "widgets": [
            {"type": "heading", "text": payload},
            {"type": "text", "text": payload},
            {"type": "link", "title": payload, "url": url, "thumbnail_url": url},
            {"type": "image", "image_url": url, "alt": payload, "url": url},
            {"type": "social", "network": network, "url": url},
            {"type": "email", "address": "ada@example.com", "title": payload},
        ]
    })
}

/// Collects where texts are shown, and elements and attributes that no page of Signpost has.
const LOOK: &str = "({
    shown: ['h1', 'header p', 'h2', '.body > p', 'li b'].map(at =>
        [...document.querySelectorAll(at)].map(element => element.textContent)),
    scripts: document.scripts.length,
    strange: document.querySelectorAll('iframe, object, embed, form, input, details, base, math, video, svg *[onbegin]').length,
    leading: [...document.querySelectorAll('*')].flatMap(element => [...element.attributes])
        .filter(({name, value}) => name.startsWith('on') ||
            /href$|src|action|data/.test(name) && !/^(\\/|#|https?:|mailto:)/.test(value)).map(({name}) => name),
    styles: document.styleSheets.length,
})";

#[test]
fn r23_payloads_in_every_text_are_shown_and_never_run() {
    let program = Program::start();
    let account = program.first_account();
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    for (number, payload) in PAYLOADS.iter().enumerate() {
        let slug = format!("page{number}");
        account.post("/v1/landings", &page(&slug, payload)).expect_status(201);
        tab.visit(&program, &format!("/{slug}"));
        let found: Value = tab.evaluate(LOOK);
        assert_eq!(
            found["shown"],
            json!([[payload], [payload], [payload], [payload], [payload, payload]]),
            "{payload}"
        );
        let rest = ["scripts", "strange", "leading", "styles"].map(|what| found[what].clone());
        assert_eq!(rest, [json!(0), json!(0), json!([]), json!(1)], "{payload}");
        for _ in 0..8 {
            tab.press("Tab");
        }
    }
    assert_inert(&tab, &["https://example.com/"], "a page of payloads");
    assert!(!tab.events().requests.iter().any(|url| url.contains("evil.example")));
}
