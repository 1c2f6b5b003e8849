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
use crate::judgement::{Judge, Onward, Seen, Stop, shown};
use crate::landing_page::Forms;
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
    /// Whether a root leads where its domain says, because its link does not open.
    gives_way: bool,
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
        let link = self.loader.compiled(&requested, &resolved, moment, visit.at, Forms::Plain);
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
        let agents = AgentCache::new(1);
        let judge = Judge { edge: self, agents: &agents };
        let view = found.link.view();
        let mut steps = StepWriter::of_link(&view, resolved, self.gates.country(&seen.for_gates()));
        match judge.stop(&seen, &view, found.is_listed) {
            None => {}
            Some(Stop::NotThere(reason)) => {
                steps.not_there(reason, visit, resolved);
                let judged = Judged::with(Outcome::NotFound, VisitOutcome::NotFound, steps);
                return Judged { gives_way: true, ..judged };
            }
            Some(Stop::Ended(reason)) => {
                steps.ended(reason, resolved);
                return Judged::with(self.after_end(&view), VisitOutcome::Expired, steps);
            }
            Some(Stop::Gate(turned_away)) => {
                steps.turned_away(turned_away, resolved);
                return Judged::with(Outcome::TurnedAway(turned_away), VisitOutcome::Blocked, steps);
            }
            Some(Stop::Card(card)) => {
                steps.stop(Check::Preview, "The visitor is a link previewer, and gets the card.");
                return Judged::with(card.answer(), VisitOutcome::Preview, steps);
            }
        }
        let mut judged = match view.destination() {
            // A link without clicks in the store may still have some on this node, and lead nowhere.
            Destination::Nothing => {
                steps.not_there(Reason::Missing(view.missing()), visit, resolved);
                return Judged::with(Outcome::NotFound, VisitOutcome::NotFound, steps);
            }
            Destination::Location { start, rest } => {
                let onward = judge.onward(&seen, &view, start, rest);
                let outcome = judge.sent(&seen, &view, &onward);
                redirected(&onward, outcome, resolved, steps)
            }
            Destination::Page(page) => page_shown(shown(&seen, &found.link, &page), resolved, steps),
        };
        if view.has_password() {
            judged.steps.stop(Check::Password, "The visitor gets a form that asks for the password.");
        }
        let withheld = view.limit().and_then(|_| judge.withheld(&seen));
        judged.steps.credit(resolved, withheld.is_some());
        if view.has_password() {
            return Judged::with(Outcome::PasswordAsked, VisitOutcome::Password, judged.steps);
        }
        match withheld {
            Some(withheld) => Judged::with(withheld.into(), VisitOutcome::Unavailable, judged.steps),
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
        let Judged { outcome, kind, gives_way, behind_page, rule, mut steps } = judged;
        let outcome = match outcome {
            Outcome::NotFound => {
                let root = match visit.address.slug {
                    None if gives_way => {
                        self.site_url(site, SiteUrl::Root).await.map_err(|outcome| failure(&outcome))?
                    }
                    None | Some(_) => None,
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

impl Judged {
    /// A visit with this answer, which no rule has decided.
    fn with(outcome: Outcome, kind: VisitOutcome, steps: StepWriter) -> Self {
        Self { outcome, kind, gives_way: false, behind_page: None, rule: String::new(), steps }
    }
}

/// A visitor gets this answer, which leads to a location.
fn redirected(onward: &Onward<'_>, outcome: Outcome, resolved: &Resolved, mut steps: StepWriter) -> Judged {
    let (start, rest) = onward.location();
    let location = [start, &String::from_utf8_lossy(rest)].concat();
    let fires = matches!(outcome, Outcome::Pixels(_));
    steps.rules(resolved, onward.rule);
    steps.pixels(resolved, fires);
    steps.pass(Check::Answer, format!("The visitor is sent to {location}"));
    Judged {
        behind_page: fires.then_some(location),
        rule: onward.rule.to_owned(),
        ..Judged::with(outcome, VisitOutcome::Redirect, steps)
    }
}

/// A visitor gets this answer, which is the landing page.
fn page_shown(outcome: Outcome, resolved: &Resolved, mut steps: StepWriter) -> Judged {
    steps.rules(resolved, "");
    steps.pixels(resolved, false);
    steps.pass(Check::Answer, "The visitor gets the landing page.");
    Judged::with(outcome, VisitOutcome::Page, steps)
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
