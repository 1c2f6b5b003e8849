//! Explanations, as a test prepares them.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use signpost_app::explain::{Check, Explanation, Steps, VisitOutcome, VisitQuery, VisitedUrl};
use signpost_app::ports::{ExplainedVisit, OpenedUrl, StoreError, VisitExplainer};
use signpost_app::visits::OwnPlace;
use signpost_domain::{SystemDomain, TargetUrl, query_of};

/// Gives every visit the same explanation, at first a redirect, and keeps what it was asked.
///
/// It knows as addresses of links only what a target of a redirect may lead to.
#[derive(Debug)]
pub struct FakeExplainer {
    system: SystemDomain,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    answer: Explanation,
    asked: Vec<ExplainedVisit>,
    is_unavailable: bool,
}

impl FakeExplainer {
    /// An explainer of visits at this system domain and at custom domains.
    #[must_use]
    pub fn new(system: SystemDomain) -> Self {
        let state = State { answer: redirect(), asked: Vec::new(), is_unavailable: false };
        Self { system, state: Mutex::new(state) }
    }

    /// From now on visits get this explanation.
    pub fn answer_with(&self, answer: Explanation) {
        self.with_state(|state| state.answer = answer);
    }

    /// Whether the explainer fails from now on.
    pub fn set_unavailable(&self, is_unavailable: bool) {
        self.with_state(|state| state.is_unavailable = is_unavailable);
    }

    /// The visits that were explained so far.
    #[must_use]
    pub fn asked(&self) -> Vec<ExplainedVisit> {
        self.with_state(|state| state.asked.clone())
    }

    fn with_state<T>(&self, access: impl FnOnce(&mut State) -> T) -> T {
        access(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl VisitExplainer for FakeExplainer {
    fn opened(&self, url: &VisitedUrl) -> Option<OpenedUrl> {
        let target = TargetUrl::parse(url.as_str()).ok()?;
        let OwnPlace { address, widget } = OwnPlace::of(&self.system, &target)?;
        let location = target.location();
        let query = Some(query_of(&location)).filter(|query| !query.is_empty());
        let query = query.and_then(|query| VisitQuery::parse(query).ok());
        widget.is_none().then_some(OpenedUrl { address, query })
    }

    async fn explain(&self, visit: ExplainedVisit) -> Result<Explanation, StoreError> {
        self.with_state(|state| {
            if state.is_unavailable {
                return Err(StoreError::unavailable("a test asked for this"));
            }
            state.asked.push(visit);
            Ok(state.answer.clone())
        })
    }
}

fn redirect() -> Explanation {
    let mut steps = Steps::default();
    for check in Check::ALL {
        steps.pass(check, "The test says so.");
    }
    Explanation {
        outcome: VisitOutcome::Redirect,
        status: 302,
        location: Some("https://example.com/".to_owned()),
        rule: None,
        steps: steps.finish(),
    }
}
