//! Clicks that a test can inspect.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use signpost_app::ports::{Click, ClickBatch, ClickKind, ClickSink};
use signpost_domain::{AccountId, CountryCode, LinkId, Timestamp};

/// A click with owned texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptClick {
    /// The time of the click.
    pub at: Timestamp,
    /// The clicked link.
    pub link: LinkId,
    /// The owner of the link.
    pub account: AccountId,
    /// The kind of click.
    pub kind: ClickKind,
    /// The rule that sent the visitor on.
    pub rule: String,
    /// The address of the visitor.
    pub address: IpAddr,
    /// The country that a trusted proxy named.
    pub country: Option<CountryCode>,
    /// `User-Agent`.
    pub user_agent: Vec<u8>,
    /// `Referer`.
    pub referrer: Vec<u8>,
    /// `Accept-Language`.
    pub accept_language: Vec<u8>,
    /// The query of the visited URL.
    pub query: Vec<u8>,
    /// `Sec-Purpose`, or `Purpose`.
    pub purpose: Vec<u8>,
}

impl From<Click<'_>> for KeptClick {
    fn from(click: Click<'_>) -> Self {
        let Click {
            at,
            link,
            account,
            kind,
            rule,
            address,
            country,
            user_agent,
            referrer,
            accept_language,
            query,
            purpose,
        } = click;
        Self {
            at,
            link,
            account,
            kind,
            rule: rule.to_owned(),
            address,
            country,
            user_agent: user_agent.to_vec(),
            referrer: referrer.to_vec(),
            accept_language: accept_language.to_vec(),
            query: query.to_vec(),
            purpose: purpose.to_vec(),
        }
    }
}

/// Keeps every click.
#[derive(Debug, Default)]
pub struct KeptClicks(Mutex<Vec<KeptClick>>);

impl KeptClicks {
    /// The clicks so far.
    #[must_use]
    pub fn all(&self) -> Vec<KeptClick> {
        self.kept().clone()
    }

    fn kept(&self) -> MutexGuard<'_, Vec<KeptClick>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClickSink for KeptClicks {
    fn take(&self, mut batch: ClickBatch) -> ClickBatch {
        self.kept().extend(batch.iter().map(KeptClick::from));
        batch.clear();
        batch
    }
}
