//! Explaining what a visit of this node would get (D136).

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use signpost_domain::{AccountId, Address, LinkId, Timestamp};

use super::store_error::StoreError;
use crate::explain::{Explanation, VisitFacts, VisitQuery, VisitedUrl};

/// A visit that is to be explained, of a link of the caller's account.
#[derive(Debug, Clone)]
pub struct ExplainedVisit {
    /// The caller's account.
    pub account: AccountId,
    /// Its link.
    pub link: LinkId,
    /// The address of the link.
    pub address: Address,
    /// Whether the link is switched on.
    pub is_active: bool,
    /// Whether its domain serves links.
    pub is_domain_active: bool,
    /// The visitor.
    pub facts: VisitFacts,
    /// The instant of the visit.
    pub at: Timestamp,
}

/// What a visitor of a URL asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedUrl {
    /// The address of the link.
    pub address: Address,
    /// The query, if the URL has one.
    pub query: Option<VisitQuery>,
}

/// Explains visits by what serves them, which is another part of the program.
///
/// An explanation leaves no trace: no click, no count, no miss, no line of a log. It uses no click of a limit, and changes nothing for
/// visitors.
#[async_trait]
pub trait VisitExplainer: Send + Sync {
    /// The address of a link that a browser asks for which opens `url`, whether or not a link is there. `None` if no link can be there.
    fn opened(&self, url: &VisitedUrl) -> Option<OpenedUrl>;

    /// What the visit would get. If the link is not at the address any more, it is what an address without a link gets, whatever is
    /// there now.
    ///
    /// # Errors
    /// The store broke, so visitors might get anything that this node has in memory.
    async fn explain(&self, visit: ExplainedVisit) -> Result<Explanation, StoreError>;
}

/// Where the explainer of this node is found. What serves visits puts it here when it starts.
#[derive(Default)]
pub struct ExplainerSlot(RwLock<Option<Arc<dyn VisitExplainer>>>);

impl ExplainerSlot {
    /// A slot with this explainer.
    #[must_use]
    pub fn holding(explainer: Arc<dyn VisitExplainer>) -> Self {
        Self(RwLock::new(Some(explainer)))
    }

    /// Puts an explainer here, in place of an earlier one.
    pub fn fill(&self, explainer: Arc<dyn VisitExplainer>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(explainer);
    }

    /// The explainer.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] before visits are served.
    pub fn explainer(&self) -> Result<Arc<dyn VisitExplainer>, StoreError> {
        let explainer = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        explainer.ok_or_else(|| StoreError::unavailable("this node serves no links yet"))
    }
}
