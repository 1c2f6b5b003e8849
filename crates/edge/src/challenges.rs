//! The challenges of the certificate authority, at port 80 of every hostname (D188).

use std::time::Duration;

use actix_http::header::{self, HeaderValue};
use actix_http::{Method, Request};
use signpost_app::Application;
use signpost_app::certificates::challenge_answer;
use signpost_domain::Hostname;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::outcome::Outcome;

/// Everything before the token.
const PATH: &str = "/.well-known/acme-challenge/";

/// How many challenges are read at once. The path needs no key and has no limit of misses, and visitors need the connections to
/// the store.
const AT_ONCE: usize = 2;

/// How long a request waits for its turn. Authorities retry.
const PATIENCE: Duration = Duration::from_millis(500);

/// Answers challenges from the store, a few at a time.
pub(crate) struct Challenges {
    turns: Semaphore,
}

impl Challenges {
    pub(crate) const fn new() -> Self {
        Self { turns: Semaphore::const_new(AT_ONCE) }
    }

    /// The answer to a challenge; `None` if the request is for something else, or no order waits for this token.
    pub(crate) async fn answer(&self, app: &Application, request: &Request) -> Option<Outcome> {
        let token = request.uri().path().strip_prefix(PATH)?;
        if app.issuance.is_none() || *request.method() != Method::GET {
            return None;
        }
        let host = request.head().headers().get(header::HOST).map(HeaderValue::as_bytes)?;
        let host = Hostname::from_authority(str::from_utf8(host).ok()?).ok()?;
        let Ok(Ok(_turn)) = timeout(PATIENCE, self.turns.acquire()).await else {
            return Some(Outcome::Unavailable);
        };
        match challenge_answer(app, &host, token).await {
            Ok(answer) => answer.map(Outcome::Challenge),
            Err(error) => {
                tracing::warn!(%error, "cannot read a challenge of the certificate authority");
                Some(Outcome::Unavailable)
            }
        }
    }
}
