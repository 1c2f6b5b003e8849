//! Explains what a visit of a link would get (D136), by the decisions of visits and without their effects.

use std::sync::{Arc, Weak};

use actix_http::Version;
use actix_http::header::{self, HeaderValue};
use async_trait::async_trait;
use signpost_app::explain::{AppliedRule, Check, Explanation, VisitFacts, VisitOutcome, VisitedUrl};
use signpost_app::ports::{ExplainedVisit, OpenedUrl, StoreError, VisitExplainer};
use signpost_app::visits::{Resolved, resolve};
use signpost_domain::{Rule, RuleTarget, Slug};

use crate::explained_request;
use crate::explained_steps::StepWriter;
use crate::gates::Reason;
use crate::judgement::{Judge, Seen, Stop, shown};
use crate::link_lookup::FoundLink;
use crate::link_view::Destination;
use crate::outcome::Outcome;
use crate::requested_address::{HashedSite, RequestedAddress};
use crate::response::response;
use crate::rules::AgentCache;
use crate::site_visit::SiteUrl;
use crate::visit::EdgeState;

/// Explains visits of this node.
pub(crate) struct EdgeExplainer {
    /// The application holds its explainer, so the explainer must not hold the application.
    edge: Weak<EdgeState>,
}

impl EdgeExplainer {
    pub(crate) fn of(edge: &Arc<EdgeState>) -> Arc<Self> {
        Arc::new(Self { edge: Arc::downgrade(edge) })
    }
}

#[async_trait]
impl VisitExplainer for EdgeExplainer {
    fn opened(&self, url: &VisitedUrl) -> Option<OpenedUrl> {
        explained_request::opened(url, &self.edge.upgrade()?.app.system)
    }

    async fn explain(&self, visit: ExplainedVisit) -> Result<Explanation, StoreError> {
        let edge = self.edge.upgrade().ok_or_else(|| StoreError::unavailable("this node is stopping"))?;
        edge.explain(&visit).await
    }
}

/// What a visit gets, before the settings of its hostname are looked at.
struct Judged {
    outcome: Outcome,
    kind: VisitOutcome,
    /// Where a page of pixels leads.
    behind_page: Option<String>,
    /// The label of the rule by which the visitor is sent on.
    rule: String,
    steps: StepWriter,
}

impl EdgeState {
    /// Reads the link anew, so that the answer is as of now, also about a change on another node. It is compiled about the instant of the
    /// visit, and not kept.
    async fn explain(&self, visit: &ExplainedVisit) -> Result<Explanation, StoreError> {
        let generations = &self.cache.generations;
        let moment = generations.now();
        let resolved = resolve(&self.app, visit.address.clone()).await?;
        if resolved.link.is_some_and(|link| link != visit.link) {
            return Ok(Explanation::unknown());
        }
        let site = HashedSite::at(&visit.address, generations);
        let slug = visit.address.slug.as_ref().map(Slug::as_str);
        let requested = RequestedAddress::new(&site, slug, generations);
        let link = self.loader.compiled(&requested, &resolved, moment, visit.at);
        let found = self.found(link.map_err(StoreError::unavailable)?);
        self.prepare_rules(&found.link.view()).await;
        let judged = self.judged(visit, &resolved, &found);
        self.explanation(visit, &site, &resolved, judged).await
    }

    /// Decides as a visit does. The order of what follows the gates is that of `visit_protected`, `visit_limited` and `sent_on`.
    fn judged(&self, visit: &ExplainedVisit, resolved: &Resolved, found: &FoundLink) -> Judged {
        let request = explained_request::request(visit.address.slug.as_ref(), &visit.facts);
        let VisitFacts { address, country, .. } = visit.facts;
        let seen = Seen { request: &request, now: visit.at, address, country };
        let agents = AgentCache::new();
        let judge = Judge { edge: self, agents: &agents };
        let view = found.link.view();
        let mut steps = StepWriter::of_link(&view, resolved, self.gates.country(&seen.for_gates()));
        let stopped =
            |outcome, kind, steps| Judged { outcome, kind, behind_page: None, rule: String::new(), steps };
        // A link without clicks in the store may still have some on this node, and lead nowhere.
        let nowhere = || {
            let reason = Reason::Missing(view.missing());
            (view.destination() == Destination::Nothing).then_some(Stop::NotThere(reason))
        };
        match judge.stop(&seen, &view, found.is_listed).or_else(nowhere) {
            None => {}
            Some(Stop::NotThere(reason)) => {
                steps.not_there(reason, visit, resolved);
                return stopped(Outcome::NotFound, VisitOutcome::NotFound, steps);
            }
            Some(Stop::Ended(reason)) => {
                steps.ended(reason, resolved);
                return stopped(self.after_end(&view), VisitOutcome::Expired, steps);
            }
            Some(Stop::Gate(turned_away)) => {
                steps.turned_away(turned_away);
                return stopped(Outcome::TurnedAway(turned_away), VisitOutcome::Blocked, steps);
            }
            Some(Stop::Card(card)) => {
                steps.stop(Check::Preview, "The visitor is a link previewer, and gets the card.");
                return stopped(card.answer(), VisitOutcome::Preview, steps);
            }
        }
        if view.has_password() {
            steps.stop(Check::Password, "The visitor gets a form that asks for the password.");
        }
        let mut judged = sent(judge, &seen, resolved, found, steps);
        let withheld = view.limit().and_then(|_| judge.withheld(&seen));
        judged.steps.credit(resolved, withheld.is_some());
        if view.has_password() {
            return stopped(Outcome::PasswordAsked, VisitOutcome::Password, judged.steps);
        }
        match withheld {
            Some(withheld) => stopped(withheld.into(), VisitOutcome::Unavailable, judged.steps),
            None => judged,
        }
    }

    /// Adds what the hostname does with visitors who open no link.
    async fn explanation(
        &self,
        visit: &ExplainedVisit,
        site: &HashedSite,
        resolved: &Resolved,
        judged: Judged,
    ) -> Result<Explanation, StoreError> {
        let Judged { outcome, kind, behind_page, rule, mut steps } = judged;
        let outcome = match outcome {
            Outcome::NotFound => {
                let root = match visit.address.slug {
                    None => self.site_url(site, SiteUrl::Root).await.map_err(|outcome| failure(&outcome))?,
                    Some(_) => None,
                };
                match root {
                    Some(url) => Outcome::at_the_root(Version::HTTP_11, &url),
                    None => self.missed(site).await,
                }
            }
            Outcome::Expired => self.expired(site).await,
            outcome => outcome,
        };
        if matches!(outcome, Outcome::Unavailable | Outcome::Failed) {
            return Err(failure(&outcome));
        }
        let language = visit.facts.language.as_ref().map(|language| language.as_str().as_bytes());
        let language = || language.map_or_else(Default::default, signpost_pages::Language::preferred);
        let (status, location) = {
            let answer = response(&self.pages, outcome, language);
            let location = answer.headers().get(header::LOCATION).map(HeaderValue::as_bytes);
            (answer.status().as_u16(), location.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
        };
        let location = location.or(behind_page);
        if let Some(location) = &location {
            steps.sent_elsewhere(location);
        }
        Ok(Explanation {
            outcome: kind,
            status,
            location,
            rule: applied(&rule, resolved.rules.as_slice()),
            steps: steps.finish(),
        })
    }
}

/// What a visitor gets who is sent on to the destination of the link.
fn sent(
    judge: Judge<'_>,
    seen: &Seen<'_>,
    resolved: &Resolved,
    found: &FoundLink,
    mut steps: StepWriter,
) -> Judged {
    let view = found.link.view();
    match view.destination() {
        Destination::Location { start, rest } => {
            let way = judge.way(seen, &view, start, rest);
            let outcome = judge.sent(seen, &view, &way);
            let (start, rest) = way.location();
            let location = [start, &String::from_utf8_lossy(rest)].concat();
            let fires = matches!(outcome, Outcome::Pixels(_));
            steps.rules(resolved, way.rule);
            steps.pixels(resolved, fires);
            steps.pass(Check::Answer, format!("The visitor is sent to {location}"));
            let behind_page = fires.then_some(location);
            Judged { outcome, kind: VisitOutcome::Redirect, behind_page, rule: way.rule.to_owned(), steps }
        }
        Destination::Page(page) => {
            steps.rules(resolved, "");
            steps.pixels(resolved, false);
            steps.pass(Check::Answer, "The visitor gets the landing page.");
            let outcome = shown(seen, &found.link, &page);
            Judged { outcome, kind: VisitOutcome::Page, behind_page: None, rule: String::new(), steps }
        }
        Destination::Nothing => {
            steps.stop(Check::Existence, "No link is at this address.");
            let kind = VisitOutcome::NotFound;
            Judged { outcome: Outcome::NotFound, kind, behind_page: None, rule: String::new(), steps }
        }
    }
}

/// The rule with this label, as analytics names it.
fn applied(label: &str, rules: &[Rule]) -> Option<AppliedRule> {
    // Neither names nor ids have full stops.
    let (name, variant) =
        label.split_once('.').map_or((label, None), |(name, variant)| (name, Some(variant)));
    let rule = rules.iter().find(|rule| rule.label() == name)?;
    let variant = variant.and_then(|variant| match &rule.leads_to {
        RuleTarget::Split(split) => split.as_slice().iter().find(|each| each.name.as_str() == variant),
        RuleTarget::Target(_) => None,
    });
    Some(AppliedRule { id: rule.id, name: rule.name.clone(), variant: variant.map(|each| each.name.clone()) })
}

fn failure(outcome: &Outcome) -> StoreError {
    StoreError::unavailable(format!("a visit would get no answer: {}", outcome.label()))
}
