//! `GET /tls-allowed`: a TLS proxy in front of the service asks here before it obtains a certificate for a hostname (D39).
//! Caddy's on-demand TLS asks in this way and takes every status but 2xx for a "no".

use std::time::Duration;

use actix_web::{HttpResponse, web};
use serde_json::json;
use signpost_app::{AppError, Application, domains};
use signpost_domain::{ErrorCode, Refusal};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use utoipa::openapi::Required;

use crate::api_error::ApiError;
use crate::endpoint::{Access, RouteMethod};
use crate::extract::OnlyQuery;
use crate::openapi::headers::RateLimited;
use crate::openapi::operation::{Endpoint, json_response};
use crate::openapi::parameters::{self, in_query};
use crate::schema::{boolean, only, open_object, shown};
use crate::sections::Section;
use crate::wire;

/// The path of the endpoint.
/// Where a proxy asks. Strangers must not: the answer tells which hostnames are in service.
pub const TLS_ALLOWED_PATH: &str = "/tls-allowed";

shown! {
    struct Allowed {
        allowed: bool = only(boolean("Always true; a refusal is an error."), true),
    }
}

/// What the API says about certificates.
pub(crate) static SECTION: Section = Section {
    tag: "Certificates",
    description: "For TLS proxies in front of the service. Needs no key and uses no quota.",
    endpoints,
    schemas: || {
        vec![("TlsAllowed", open_object("A certificate may be obtained.", Allowed::properties()).into())]
    },
    parameters: || {
        let name = in_query("domain", parameters::text().examples(["links.example.org"]));
        let description = "The hostname. Case and one final dot are ignored.";
        vec![("CertificateName", name.required(Required::True).description(Some(description)).build())]
    },
};

fn endpoints() -> Vec<Endpoint> {
    let yes = json_response("It may.", "TlsAllowed", json!({"allowed": true}), RateLimited::Never).build();
    vec![Endpoint {
        access: Access::Open,
        summary: "May a certificate be obtained for a hostname?",
        description: "Answers 200 for a custom domain that is `ssl_pending` or `active`. Every other hostname, the installation's \
                      own names and malformed names get a 404. Caddy's on-demand TLS asks this question.",
        parameters: &["CertificateName"],
        success: ("200", yes),
        errors: &[ErrorCode::DomainNotFound],
        ..Endpoint::new("getTlsAllowed", RouteMethod::Get, TLS_ALLOWED_PATH, || web::to(handle))
    }]
}

/// Limits how many questions the workers of a listener ask the store at once.
///
/// The endpoint needs no key and has no quota. Without the limit, a stranger could occupy all connections to the store, which
/// the requests of admitted callers need.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    permits: Semaphore,
    patience: Duration,
}

impl ConcurrencyLimit {
    /// A quarter of the connections to the store on a small machine.
    const AT_ONCE: usize = 2;

    /// How long a question waits for a permit, in addition to the time of the store. The proxy has a visitor waiting in a TLS
    /// handshake, and retries.
    const PATIENCE: Duration = Duration::from_millis(500);

    async fn acquire(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        let permit = timeout(self.patience, self.permits.acquire()).await;
        permit.ok().and_then(Result::ok).ok_or_else(|| {
            ApiError::Internal(
                "too many concurrent requests ask which hostnames may have certificates".to_owned(),
            )
        })
    }
}

impl Default for ConcurrencyLimit {
    fn default() -> Self {
        Self { permits: Semaphore::new(Self::AT_ONCE), patience: Self::PATIENCE }
    }
}

/// Says whether a certificate may be obtained for the hostname `domain`. It costs one indexed read, and only a few run at
/// once; the others wait without a connection to the store.
///
/// Strangers can learn from it whether an account has proven a hostname, moments before the public certificate shows that.
///
/// A malformed hostname is answered like an unknown one: the proxy forwards names from TLS handshakes and needs a yes or a
/// no. A request without the parameter is a 400, since the proxy's configuration is wrong.
pub(crate) async fn handle(
    app: web::Data<Application>,
    limit: web::Data<ConcurrencyLimit>,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let OnlyQuery { mut query, mut violations } = input;
    let hostname = query.require("domain");
    violations.append(query.finish());
    let hostname = violations.into_result(hostname)?.unwrap_or_default();
    let is_allowed = match domains::certifiable_hostname(&app, &hostname) {
        None => false,
        Some(hostname) => {
            let _permit = limit.acquire().await?;
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
        limit: &Arc<ConcurrencyLimit>,
    ) -> impl Future<Output = Result<HttpResponse, ApiError>> {
        let query = QueryString::parse("domain=links.shop.com");
        let input = OnlyQuery { query, violations: Violations::new() };
        handle(web::Data::new(memory.application()), web::Data::from(Arc::clone(limit)), input)
    }

    fn status(answer: Result<HttpResponse, ApiError>) -> StatusCode {
        answer.map_or_else(|error| error.status(), |response| response.status())
    }

    /// A waiting question has not asked the store, so it occupies no connection.
    #[actix_web::test]
    async fn only_two_questions_ask_the_store_at_once_and_others_wait() {
        let (memory, limit) = (InMemory::default(), Arc::new(ConcurrencyLimit::default()));
        let taken = join_all((0..ConcurrencyLimit::AT_ONCE).map(|_| limit.acquire())).await;
        assert!(taken.iter().all(Result::is_ok));
        memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
        let mut waiting = pin!(question(&memory, &limit));
        assert!(poll_immediate(&mut waiting).await.is_none());
        assert_eq!(memory.store.faults().outstanding(), 1, "a waiting question asked the store");
        drop(taken);
        assert_eq!(status(waiting.await), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(memory.store.faults().outstanding(), 0);
        for _ in 0..=ConcurrencyLimit::AT_ONCE {
            assert_eq!(
                status(question(&memory, &limit).await),
                StatusCode::NOT_FOUND,
                "a finished question kept its permit"
            );
        }
    }

    /// A 500 is not a "no": the proxy may ask again.
    #[actix_web::test]
    async fn a_question_without_a_permit_in_time_gets_500() {
        let limit = Arc::new(ConcurrencyLimit { patience: Duration::ZERO, ..ConcurrencyLimit::default() });
        let _taken = join_all((0..ConcurrencyLimit::AT_ONCE).map(|_| limit.acquire())).await;
        assert_eq!(status(question(&InMemory::default(), &limit).await), StatusCode::INTERNAL_SERVER_ERROR);
    }
}
