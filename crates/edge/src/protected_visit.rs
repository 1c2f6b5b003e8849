//! Visits of links with a password (D131).

use actix_http::Method;
use signpost_app::visits::{PasswordCheck, PasswordCheckError, check_password};
use signpost_domain::{LinkPassword, Timestamp};
use tokio::sync::Semaphore;

use crate::click_limit_view::ClickLimitView;
use crate::gates::Reason;
use crate::link_lookup::FoundLink;
use crate::link_view::{Destination, LinkView};
use crate::opening::Opening;
use crate::outage_log::OutageLog;
use crate::outcome::Outcome;
use crate::password_form::{FormError, typed_password};
use crate::password_tries::{NoTry, PasswordTries};
use crate::requested_address::RequestedAddress;
use crate::visit::{Visitor, Worker};

/// What visits of links with a password share.
pub(crate) struct Passwords {
    tries: PasswordTries,
    /// A permit for each form that is being read. Only a form can keep a connection waiting for a body.
    forms: Semaphore,
    outages: OutageLog,
}

impl Passwords {
    /// For a listener with so many connections. Forms that do not arrive hold a quarter of them at most.
    pub(crate) fn new(connections: usize) -> Self {
        let forms = Semaphore::new((connections / 4).clamp(1, Semaphore::MAX_PERMITS));
        Self { tries: PasswordTries::new(), forms, outages: OutageLog::default() }
    }
}

impl From<NoTry> for Outcome {
    fn from(refusal: NoTry) -> Self {
        match refusal {
            NoTry::UsedUp { retry_after_seconds } => Self::PasswordThrottled { retry_after_seconds },
            NoTry::MayBeUsedUp => Self::PasswordsBusy,
        }
    }
}

impl Worker {
    /// Asks for the password of a link, or checks the one that was sent, before it sends the visitor on. The gates come before it, and
    /// the limit of clicks comes after it (D129).
    pub(crate) async fn visit_protected(
        &self,
        visitor: &Visitor<'_>,
        requested: &RequestedAddress<'_>,
        found: &FoundLink,
        limit: Option<ClickLimitView>,
    ) -> Outcome {
        if let Some(outcome) = self.turned_away(visitor, found) {
            return outcome;
        }
        let view = found.link.view();
        // A link without clicks in the store may still have some on this node, and lead nowhere.
        if view.destination() == Destination::Nothing {
            return self.not_found(Reason::Missing(view.missing()));
        }
        if *visitor.request.method() != Method::POST {
            return Outcome::PasswordAsked;
        }
        if let Err(refusal) = self.check_sent_password(visitor, &view).await {
            return refusal;
        }
        self.edge.prepare_rules(&view).await;
        match limit {
            Some(limit) => self.use_click(visitor, requested, found, limit).await,
            None => self.sent_on(visitor, found),
        }
    }

    /// The answer to a form that was sent to a link without a password. Whether there is a link, it says as GET does (D54).
    pub(crate) fn refuse_form(&self, visitor: &Visitor<'_>, found: &FoundLink) -> Outcome {
        match Opening::of(&found.link.view(), found.is_listed, visitor.now) {
            Opening::NotThere(reason) => self.not_found(reason),
            Opening::Open | Opening::Ended | Opening::Exhausted => Outcome::MethodNotAllowed,
        }
    }

    /// Reads the form and checks its password. The throttles are judged before anything else is done for the visitor.
    async fn check_sent_password(&self, visitor: &Visitor<'_>, view: &LinkView<'_>) -> Result<(), Outcome> {
        let Passwords { tries, forms, .. } = &self.edge.passwords;
        tries.judge(view.link_id(), visitor.address, visitor.now)?;
        let typed = {
            let Ok(_reading) = forms.try_acquire() else { return Err(Outcome::PasswordsBusy) };
            let body = visitor.body.take().ok_or(Outcome::BadForm(FormError::Incomplete))?;
            typed_password(visitor.request, body).await.map_err(Outcome::BadForm)?
        };
        // The form may have taken seconds to arrive.
        self.check_typed_password(visitor, view, typed, self.edge.app.clock.now()).await
    }

    async fn check_typed_password(
        &self,
        visitor: &Visitor<'_>,
        view: &LinkView<'_>,
        typed: Option<LinkPassword>,
        now: Timestamp,
    ) -> Result<(), Outcome> {
        let (app, Passwords { tries, outages, .. }) = (&self.edge.app, &self.edge.passwords);
        let link = view.link_id();
        let account = view.owner(&self.edge.cache.generations).ok_or(Outcome::Failed)?;
        let begun = tries.begin(link, visitor.address, now)?;
        // What cannot be the password of any link is wrong without a hash.
        let Some(typed) = typed else { return Err(Outcome::PasswordWrong) };
        let outcome = match check_password(app, link, account, typed.as_password().clone()).await {
            Ok(PasswordCheck::Right) => Ok(()),
            Ok(PasswordCheck::Wrong) => return Err(Outcome::PasswordWrong),
            // This node learns within a second that the link has no password any more. Until then it does not know what is there.
            Ok(PasswordCheck::NoPassword) => Err(Outcome::Unavailable),
            Err(PasswordCheckError::Busy) => Err(Outcome::PasswordsBusy),
            Err(PasswordCheckError::Store(error)) => {
                outages.note(|unlogged| {
                    tracing::error!(%error, unlogged, "the store cannot say which password a link has");
                });
                Err(Outcome::Unavailable)
            }
            Err(error @ PasswordCheckError::Failed(_)) => {
                tracing::error!(%link, %error, "a link stays closed");
                Err(Outcome::Failed)
            }
        };
        begun.forgive();
        outcome
    }
}
