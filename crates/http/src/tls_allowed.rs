//! `GET /tls-allowed`: what ends TLS in front of the service asks here before it gets a certificate for a hostname (D39).
//! Caddy's on-demand TLS asks in this way and takes every status but 2xx for a "no".

use std::time::Duration;

use actix_web::{HttpResponse, web};
use signpost_app::{AppError, Application, domains};
use signpost_domain::Refusal;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

use crate::api_error::ApiError;
use crate::extract::OnlyQuery;
use crate::schema::{Components, boolean, closed_object, shown};
use crate::wire;

/// Where it is asked.
pub(crate) const PATH: &str = "/tls-allowed";

shown! {
    struct Allowed {
        allowed: bool = boolean("Always true: a \"no\" is an error.").enum_values(Some([true])),
    }
}

/// The component of the OpenAPI document about the answer.
pub(crate) fn components() -> Components {
    vec![("TlsAllowed", closed_object("A certificate may be obtained.", Allowed::properties()).into())]
}

/// Who may ask the store at this moment, among the workers of a listener.
///
/// Strangers can ask, and nothing counts how often. Without turns, as many questions as somebody sends at once would take
/// the places of the store's connections that the requests of admitted callers need.
#[derive(Debug)]
pub(crate) struct Turns {
    places: Semaphore,
    patience: Duration,
}

impl Turns {
    /// How many questions the store is asked at once: a quarter of the connections to it that there are on a small machine.
    const AT_ONCE: usize = 2;

    /// How long a question waits for its turn, beside the time that the store may take. Whoever asks has a visitor waiting in a
    /// handshake, and comes again.
    const PATIENCE: Duration = Duration::from_millis(500);

    async fn wait(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        let turn = timeout(self.patience, self.places.acquire()).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| {
            ApiError::Internal(
                "too many ask at once for which hostnames there may be certificates".to_owned(),
            )
        })
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self { places: Semaphore::new(Self::AT_ONCE), patience: Self::PATIENCE }
    }
}

/// Says whether a certificate may be obtained for the hostname `domain`. No quota guards it, so it costs one read by an
/// index, and only a few of these are under way at once; the others wait without a connection to the store.
///
/// It tells strangers whether an account has proven a hostname, some moments before the first certificate tells everybody.
///
/// A value that is no hostname is answered as an unknown one is, since whoever asks passes on what strangers sent in a TLS
/// handshake and wants a yes or a no. A request without the parameter is one that somebody has to mend.
pub(crate) async fn handle(
    app: web::Data<Application>,
    turns: web::Data<Turns>,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let OnlyQuery { mut query, mut violations } = input;
    let hostname = query.require("domain");
    violations.append(query.finish());
    let hostname = violations.into_result(hostname)?.unwrap_or_default();
    let is_allowed = match domains::certifiable_hostname(&app, &hostname) {
        None => false,
        Some(hostname) => {
            let _turn = turns.wait().await?;
            domains::may_have_certificate(&app, &hostname).await.map_err(AppError::from)?
        }
    };
    if is_allowed {
        wire::ok(&Allowed { allowed: true })
    } else {
        Err(AppError::from(Refusal::DomainNotFound).into())
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::sync::Arc;

    use actix_web::http::StatusCode;
    use futures_util::future::{join_all, poll_immediate};
    use signpost_domain::Violations;
    use signpost_memory::{Fault, InMemory, Step};

    use super::*;
    use crate::extract::QueryString;

    fn question(
        memory: &InMemory,
        turns: &Arc<Turns>,
    ) -> impl Future<Output = Result<HttpResponse, ApiError>> {
        let query = QueryString::parse("domain=links.shop.com");
        let input = OnlyQuery { query, violations: Violations::new() };
        handle(web::Data::new(memory.application()), web::Data::from(Arc::clone(turns)), input)
    }

    fn status(answer: Result<HttpResponse, ApiError>) -> StatusCode {
        answer.map_or_else(|error| error.status(), |response| response.status())
    }

    /// However many ask: what waits has asked the store nothing, so it takes no connection from the API.
    #[actix_web::test]
    async fn only_a_few_ask_the_store_at_once_and_the_others_have_their_turn_later() {
        let (memory, turns) = (InMemory::default(), Arc::new(Turns::default()));
        let taken = join_all((0..Turns::AT_ONCE).map(|_| turns.wait())).await;
        assert!(taken.iter().all(Result::is_ok));
        memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
        let mut waiting = pin!(question(&memory, &turns));
        assert!(poll_immediate(&mut waiting).await.is_none());
        assert_eq!(memory.store.faults().outstanding(), 1, "it has asked the store");
        drop(taken);
        assert_eq!(status(waiting.await), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(memory.store.faults().outstanding(), 0);
        for _ in 0..=Turns::AT_ONCE {
            assert_eq!(
                status(question(&memory, &turns).await),
                StatusCode::NOT_FOUND,
                "turns are given back"
            );
        }
    }

    /// That is no "no": what is not known is not allowed, and not forbidden either.
    #[actix_web::test]
    async fn a_question_that_gets_no_turn_in_time_is_answered_with_500() {
        let turns = Arc::new(Turns { patience: Duration::ZERO, ..Turns::default() });
        let _taken = join_all((0..Turns::AT_ONCE).map(|_| turns.wait())).await;
        assert_eq!(status(question(&InMemory::default(), &turns).await), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
