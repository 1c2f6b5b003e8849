//! What a visit would get, without one: `/v1/redirects/{id}/test` and `/v1/explain` (D136).

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_app::explain::{
    self, AppliedRule, Check, Explanation, Step, StepResult, VisitFacts, VisitHeader, VisitOutcome,
    VisitQuery, VisitedUrl,
};
use signpost_domain::id::RedirectKind;
use signpost_domain::routing::RuleName;
use signpost_domain::{Change, CountryCode, ErrorCode, RuleId, Timestamp};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat};

use crate::api_error::ApiError;
use crate::endpoint::RouteMethod;
use crate::extract::{Admitted, Field, ObjectReader, OnlyBody, PathId, field, properties, run_once, text};
use crate::openapi::operation::{Endpoint, body, ok};
use crate::schema::{
    Components, closed_object, country_pattern, examples, id, integer, kind, list, matching, named, named_as,
    one_line_pattern, one_of_known, open_object, shown, string,
};
use crate::sections::Section;
use crate::wire::{self, Text};

/// The path of the test of a redirect.
pub(crate) const TEST: &str = "/v1/redirects/{id}/test";

/// The path of the explanation of an address.
pub(crate) const EXPLAIN: &str = "/v1/explain";

/// The pattern of addresses. What follows the scheme may be anything, because an address that cannot be read has no link.
const URL: &str = "^[Hh][Tt][Tt][Pp][Ss]?://";

const EXAMPLE_RULE: &str = "rul_019b5a3e11aa7c3e8899aabbccddeeff";

const EXAMPLE_AGENT: &str = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                             Version/18.6 Mobile/15E148 Safari/604.1";

/// What the API says about explanations of addresses. That of a redirect is among the operations of redirects.
pub(crate) static SECTION: Section = Section {
    tag: "Explanations",
    description: "What visitors of an address would get, and why, without a visit.",
    endpoints: || vec![explanation()],
    schemas: components,
    parameters: Vec::new,
};

/// `POST /v1/redirects/{id}/test`
async fn test(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<RedirectKind>,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let (mut body, mut violations) = body.reader()?;
    let facts = read_visit(&mut body);
    violations.append(body.finish());
    let facts = violations.into_result(facts)?;
    let (app, caller) = (&*app, &*caller);
    let explanation = || explain::by_id(app, caller, id.0, facts.clone());
    run_once(key.as_ref(), show, |idempotency| explain::once(app, caller, idempotency, explanation)).await
}

/// `POST /v1/explain`: an address that is not that of an own link is answered like one without a link.
async fn explain_address(
    app: web::Data<Application>,
    caller: Admitted,
    mut body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let key = body.key(&app, &caller).await?;
    let (mut body, mut violations) = body.reader()?;
    let (url, facts) = read_address(&mut body);
    violations.append(body.finish());
    let Some(url) = url else { return Err(violations.into()) };
    let facts = violations.into_result(facts)?;
    let (app, caller) = (&*app, &*caller);
    let explanation = || explain::by_url(app, caller, &url, facts.clone());
    run_once(key.as_ref(), show, |idempotency| explain::once(app, caller, idempotency, explanation)).await
}

fn show(explanation: &Explanation) -> Result<HttpResponse, ApiError> {
    wire::ok(&ExplanationBody::from(explanation))
}

/// Reads the address and the visit.
fn read_address(body: &mut ObjectReader<'_>) -> (Option<VisitedUrl>, VisitFacts) {
    let url = field("url", text(VisitedUrl::parse), || {
        matching(string("The address that is visited."), URL)
            .max_length(Some(VisitedUrl::MAX_CHARS))
            .examples([EXAMPLE_URL])
    });
    (body.required(url), read_visit(body))
}

/// Reads what is known about the visit.
fn read_visit(body: &mut ObjectReader<'_>) -> VisitFacts {
    let country = field("country", text(CountryCode::parse), || {
        let about = "The visitor's country, a code of ISO 3166-1 (alpha-2). Left out or null: that of `address`, if it is known.";
        matching(string(about), country_pattern()).examples(["DE"])
    });
    let at = field("at", text(Timestamp::parse), || {
        let about = "When the visit is, with `Z` or an offset. Clicks that are left, and all fields of the link, are those of now. \
                     Left out or null: now.";
        string(about)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .examples([examples::STARTS_AT])
    });
    let query = field("query", text(VisitQuery::parse), || {
        let about = "The query with which the link is opened, with or without `?`. Left out or null: none, or that of `url`.";
        matching(string(about), one_line_pattern())
            .max_length(Some(VisitQuery::MAX_CHARS))
            .examples(["plan=pro"])
    });
    let address = field("address", text(explain::parse_visitor_address), || {
        let about = "The visitor's IP address. It is not stored. Left out or null: unknown, so that no condition on the network holds.";
        string(about).examples(["192.0.2.7"])
    });
    let about_agent = "The header `User-Agent`; empty for none. Left out or null: that of a usual browser.";
    let about_language = "The header `Accept-Language`, or one language. Left out or null: none.";
    let about_referrer =
        "The header `Referer`: the address of the page that the visitor comes from. Left out or null: none.";
    VisitFacts {
        country: given(body.nullable(country)),
        user_agent: given(body.nullable(header("user_agent", about_agent, EXAMPLE_AGENT))),
        language: given(body.nullable(header("language", about_language, "de-AT,en;q=0.5"))),
        referrer: given(body.nullable(header("referrer", about_referrer, "https://news.example.com/"))),
        query: given(body.nullable(query)),
        at: given(body.nullable(at)),
        address: given(body.nullable(address)),
    }
}

/// Null says the same as an absent field.
fn given<T>(change: Change<T>) -> Option<T> {
    change.applied_to(None)
}

fn header(name: &'static str, about: &'static str, example: &'static str) -> impl Field<VisitHeader> {
    field(name, text(VisitHeader::parse), move || {
        matching(string(about), one_line_pattern())
            .max_length(Some(VisitHeader::MAX_CHARS))
            .examples([example])
    })
}

shown! {
    /// What a visit would get.
    struct ExplanationBody {
        object: &'static str = kind("explanation"),
        outcome: &'static str = outcome_shown(),
        status: u32 = integer()
            .minimum(Some(200))
            .maximum(Some(599))
            .description(Some("The status of the answer."))
            .examples([302]),
        location: Option<String> = string(
            "Where the visitor is sent, at once or by a page that fires pixels. Null: nowhere, or only after a password.",
        )
        .examples(["https://example.com/de"]),
        rule: Option<AppliedRuleBody> = named_as(
            "AppliedRule",
            "The rule that decided where the visitor is sent. Null: none did.".to_owned(),
        ),
        steps: Vec<StepBody> =
            list("Every check of the visit, in the order in which they are made.", named("ExplanationStep"))
                .min_items(Some(1)),
    }
}

shown! {
    struct AppliedRuleBody {
        id: Text<RuleId> = id(EXAMPLE_RULE, "The rule's id."),
        name: Option<String> = string("The rule's name.").examples(["german"]),
        variant: Option<String> = string("The name of the variant, if the rule is a split.").examples(["new"]),
    }
}

shown! {
    struct StepBody {
        check: &'static str = check_shown(),
        result: &'static str = result_shown(),
        reason: String = string("Why, in a sentence for people; it may be reworded.").min_length(Some(1)),
    }
}

fn outcome_shown() -> ObjectBuilder {
    let about = "What the visitor gets. `redirect`: another address. `page`: a landing page. `password`: the form that asks for the \
        password. `preview`: a card for link previews. `blocked`: the page for bots and countries that are turned away. `expired`: what \
        the link shows after its end. `not_found`: what the domain shows where no link is. `unavailable`: 503, because only people who \
        open the link get its target. An open list.";
    one_of_known(string(about), VisitOutcome::ALL.map(VisitOutcome::as_str))
}

fn check_shown() -> ObjectBuilder {
    one_of_known(string("What is checked. An open list."), Check::ALL.map(Check::as_str))
}

fn result_shown() -> ObjectBuilder {
    let about = "What the check does. `pass`: the visit goes on. `stop`: the check decides the outcome. `skip`: an earlier check has \
        decided it. An open list.";
    one_of_known(string(about), StepResult::ALL.map(StepResult::as_str))
}

impl From<&Explanation> for ExplanationBody {
    fn from(explanation: &Explanation) -> Self {
        let Explanation { outcome, status, location, rule, steps } = explanation;
        Self {
            object: "explanation",
            outcome: outcome.as_str(),
            status: u32::from(*status),
            location: location.clone(),
            rule: rule.as_ref().map(AppliedRuleBody::from),
            steps: steps.iter().map(StepBody::from).collect(),
        }
    }
}

impl From<&AppliedRule> for AppliedRuleBody {
    fn from(rule: &AppliedRule) -> Self {
        let AppliedRule { id, name, variant } = rule;
        let text = |name: &Option<RuleName>| name.as_ref().map(|name| name.as_str().to_owned());
        Self { id: Text(*id), name: text(name), variant: text(variant) }
    }
}

impl From<&Step> for StepBody {
    fn from(step: &Step) -> Self {
        let Step { check, result, reason } = step;
        Self { check: check.as_str(), result: result.as_str(), reason: reason.clone().into_owned() }
    }
}

/// The OpenAPI components of explanations.
fn components() -> Components {
    let explanation = open_object("What a visit would get, and why.", ExplanationBody::properties());
    let rule = open_object("The rule that decided where a visitor is sent.", AppliedRuleBody::properties());
    let step = open_object("A check of a visit.", StepBody::properties());
    let visit = closed_object("What is known about a visit.", properties(|body| drop(read_visit(body))));
    let address = closed_object(
        "An address, and what is known about a visit of it.",
        properties(|body| drop(read_address(body))),
    );
    vec![
        ("Explanation", explanation.into()),
        ("AppliedRule", rule.into()),
        ("ExplanationStep", step.into()),
        ("RedirectTest", visit.into()),
        ("ExplanationRequest", address.into()),
    ]
}

const EXAMPLE_URL: &str = "https://go.example.com/sale?plan=pro";

/// An answer: a rule sends a visitor elsewhere.
fn example() -> Value {
    let reasons = [
        "An active link is at this address.",
        "The link has no start.",
        "The link has no end.",
        "Antibot is off for this link.",
        "The link blocks no countries.",
        "The link has no preview card.",
        "The link asks for no password.",
        "The first rule that holds is `german`.",
        "The link has no limit of clicks.",
        "The link fires no pixels.",
        "The visitor is sent to https://example.com/de.",
    ];
    let step = |(check, reason): (Check, &str)| json!({"check": check.as_str(), "result": StepResult::Pass.as_str(), "reason": reason});
    json!({
        "object": "explanation",
        "outcome": VisitOutcome::Redirect.as_str(),
        "status": 302,
        "location": "https://example.com/de",
        "rule": {"id": EXAMPLE_RULE, "name": "german", "variant": null},
        "steps": Check::ALL.into_iter().zip(reasons).map(step).collect::<Value>(),
    })
}

/// The test of a redirect, in the document.
pub(super) fn testing() -> Endpoint {
    Endpoint {
        summary: "Test a redirect",
        description: "Tells what a visitor would get at this redirect, and why: the outcome, the status and the location, the rule that \
                      decided, and every check of the visit. It is no visit: nothing is counted, and no click of a limit is used. The key \
                      needs the scope `read`.",
        parameters: &["RedirectId"],
        body: Some(body(
            "RedirectTest",
            [
                (
                    "phone",
                    "A phone in Germany",
                    json!({"country": "DE", "user_agent": EXAMPLE_AGENT, "language": "de"}),
                ),
                (
                    "later",
                    "Somebody who comes from a page, later",
                    json!({"at": examples::STARTS_AT, "referrer": "https://news.example.com/", "query": "plan=pro", "address": "192.0.2.7"}),
                ),
            ],
        )),
        success: ok("What the visitor would get.", "Explanation", example()),
        errors: &[ErrorCode::RedirectNotFound],
        ..Endpoint::new("testRedirect", RouteMethod::Post, TEST, || web::to(test))
    }
}

fn explanation() -> Endpoint {
    Endpoint {
        summary: "Explain an address",
        description: "Tells what a visitor of this address would get, as the test of a redirect does. It knows the account's own links of \
                      both kinds. Every other address, whether somebody else has a link there or nobody, gets one and the same answer \
                      with the outcome `not_found`. Nothing is counted. The key needs the scope `read`.",
        body: Some(body(
            "ExplanationRequest",
            [
                (
                    "visit",
                    "A phone",
                    json!({"url": EXAMPLE_URL, "country": "DE", "user_agent": EXAMPLE_AGENT}),
                ),
                ("address", "An address alone", json!({"url": "https://go.example.com/sale"})),
            ],
        )),
        success: ok("What the visitor would get.", "Explanation", example()),
        ..Endpoint::new("getExplanation", RouteMethod::Post, EXPLAIN, || web::to(explain_address))
    }
}
