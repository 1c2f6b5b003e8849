//! What a visit of a link or of an address would get (D136).

use actix_web::HttpResponse;
use serde_json::{Map, Value, json};
use signpost_app::explain::{
    self, AppliedRule, Explanation, Step, StepResult, VisitFacts, VisitOutcome, VisitedUrl,
};
use signpost_app::links;
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::routing::RuleName;
use signpost_domain::{Link, LinkKind, PageContent, RedirectContent, Violations};

use super::life_fields::zone_of;
use super::list::public_url;
use super::typed_address::visit_with_scheme;
use super::visit_fields::{DescribedVisit, WORDS};
use crate::answer::{page, refused};
use crate::curl;
use crate::failure::Failure;
use crate::frame::{TEXTS, shell};
use crate::pages::field;
use crate::views::{
    CurlExample, ExplainPage, ExplanationView, Field, Label, NamedId, NavItem, StepRow, Tone, VisitForm,
};
use crate::visit::{Member, Visit};

/// The path of the API that explains an address.
const EXPLAIN: &str = "/v1/explain";

/// `GET /{account}/links/{id}/test`
pub(crate) async fn show_link(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let kind = LinkKind::of_prefix(visit.part("id")).ok_or(Failure::NOT_FOUND)?;
    let link = link_of(&visit, &member, kind).await?;
    let described = described(&visit, &member);
    let answer = if described.has_mistakes {
        None
    } else {
        Some(explained(&explanation_of(&visit, &member, kind, described.facts.clone()).await?))
    };
    let curl = vec![twin_of_link(&visit, &link, described.body)];
    let has_mistakes = described.has_mistakes;
    let view = ExplainPage {
        shell: shell(&visit, &member, NavItem::Links, WORDS.title, curl),
        action: format!("/{}/links/{}/test", member.caller.account_id(), link.id()),
        link: Some(NamedId { id: link.id().to_string(), name: link.name.as_str().to_owned() }),
        visit: described.form,
        answer,
    };
    if has_mistakes { refused(&view) } else { page(&view) }
}

/// `GET /{account}/test`
pub(crate) async fn show_address(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let described = described(&visit, &member);
    let typed = visit.query().text("url").trim().to_owned();
    let url = visit_with_scheme(&typed);
    let (url_field, asked) = match VisitedUrl::parse(&url) {
        _ if typed.is_empty() => (Field::default(), None),
        Ok(visited) => (Field::of(typed.clone()), Some(visited)),
        Err(error) => (field(&typed, &Violations::from(error.at("url")), "url"), None),
    };
    let has_mistakes = described.has_mistakes || url_field.error.is_some();
    let answer = match asked.filter(|_| !has_mistakes) {
        Some(url) => {
            let (app, caller, facts) = (visit.app(), &member.caller, described.facts);
            Some(explained(&explain::by_url(app, caller, &url, facts).await?))
        }
        None => None,
    };
    let example = || format!("{}/sale", visit.app().system.origin());
    let of_twin = if typed.is_empty() { example() } else { url.into_owned() };
    let curl = vec![twin_of_address(&visit, &of_twin, described.body)];
    let view = ExplainPage {
        shell: shell(&visit, &member, NavItem::Links, WORDS.title, curl),
        action: format!("/{}/test", member.caller.account_id()),
        link: None,
        visit: VisitForm { url: Some(url_field), ..described.form },
        answer,
    };
    if has_mistakes { refused(&view) } else { page(&view) }
}

/// The visit that the query describes, in the zone of the form.
fn described(visit: &Visit, member: &Member) -> DescribedVisit {
    let query = visit.query();
    let shown_in = zone_of(query.text("zone"), &member.signed_in.user().preferences);
    DescribedVisit::of(&query, &shown_in)
}

/// The link in the path.
async fn link_of(visit: &Visit, member: &Member, kind: LinkKind) -> Result<Link, Failure> {
    let (app, caller) = (visit.app(), &member.caller);
    Ok(match kind {
        LinkKind::Redirect => {
            let id = visit.id::<RedirectKind>();
            links::get::<RedirectContent>(app, caller, id, None).await?.redirect.into_any()
        }
        LinkKind::Landing => {
            links::get::<PageContent>(app, caller, visit.id::<LandingKind>(), None).await?.into_any()
        }
    })
}

async fn explanation_of(
    visit: &Visit,
    member: &Member,
    kind: LinkKind,
    facts: VisitFacts,
) -> Result<Explanation, Failure> {
    let (app, caller) = (visit.app(), &member.caller);
    Ok(match kind {
        LinkKind::Redirect => explain::by_id(app, caller, visit.id::<RedirectKind>(), facts).await?,
        LinkKind::Landing => explain::by_id(app, caller, visit.id::<LandingKind>(), facts).await?,
    })
}

/// The same test with the API, which tests landing pages by their addresses.
fn twin_of_link(visit: &Visit, link: &Link, body: Map<String, Value>) -> CurlExample {
    let (api, id) = (visit.api_url(), link.id());
    match (id.kind(), public_url(visit, link)) {
        (LinkKind::Redirect, _) => {
            let path = format!("/v1/redirects/{id}/test");
            curl::send_json(api, WORDS.curl_link, "POST", &path, &Value::Object(body))
        }
        (LinkKind::Landing, Some(url)) => twin_of_address(visit, &url, body),
        (LinkKind::Landing, None) => curl::read(api, TEXTS.curl_read_link, &format!("/v1/landings/{id}")),
    }
}

fn twin_of_address(visit: &Visit, url: &str, visitor: Map<String, Value>) -> CurlExample {
    let mut body = Map::from_iter([("url".to_owned(), json!(url))]);
    body.extend(visitor);
    curl::send_json(visit.api_url(), WORDS.curl_address, "POST", EXPLAIN, &Value::Object(body))
}

fn explained(explanation: &Explanation) -> ExplanationView {
    let Explanation { outcome, status, location, rule, steps } = explanation;
    // It says nothing of what is there.
    let is_unknown = *explanation == Explanation::unknown();
    let [title, text] = if is_unknown { WORDS.unknown } else { (WORDS.outcome)(*outcome) };
    ExplanationView {
        title: title.to_owned(),
        text: text.to_owned(),
        reason: decisive(*outcome, steps)
            .filter(|_| !is_unknown)
            .map(|step| step.reason.clone().into_owned()),
        is_turned_away: is_turned_away(*outcome),
        status: (!is_unknown).then(|| status.to_string()),
        location: location.clone(),
        rule: rule.as_ref().map(rule_name),
        steps: steps.iter().map(step_row).collect(),
    }
}

/// The step that people ask about: the one that stopped the visit, or what is behind the form.
fn decisive(outcome: VisitOutcome, steps: &[Step]) -> Option<&Step> {
    match outcome {
        VisitOutcome::Password => steps.last(),
        _ => steps.iter().find(|step| step.result == StepResult::Stop),
    }
}

const fn is_turned_away(outcome: VisitOutcome) -> bool {
    match outcome {
        VisitOutcome::Redirect | VisitOutcome::Page | VisitOutcome::Password | VisitOutcome::Preview => false,
        VisitOutcome::Blocked
        | VisitOutcome::Expired
        | VisitOutcome::NotFound
        | VisitOutcome::Unavailable => true,
    }
}

fn rule_name(rule: &AppliedRule) -> String {
    let AppliedRule { id, name, variant } = rule;
    let name = name.as_ref().map_or_else(|| id.to_string(), |name| name.as_str().to_owned());
    match variant.as_ref().map(RuleName::as_str) {
        Some(variant) => (WORDS.variant)(&name, variant),
        None => name,
    }
}

fn step_row(step: &Step) -> StepRow {
    let Step { check, result, reason } = step;
    let tone = match result {
        StepResult::Pass => Tone::Good,
        StepResult::Stop => Tone::Bad,
        StepResult::Skip => Tone::Neutral,
    };
    StepRow {
        check: (WORDS.check)(*check).to_owned(),
        result: Label { text: (WORDS.result)(*result).to_owned(), tone },
        reason: reason.clone().into_owned(),
    }
}
