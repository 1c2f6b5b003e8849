//! The challenges of the certificate authority, at port 80 of every hostname (D188).

use std::time::Duration;

use actix_http::header::{self, HeaderValue};
use actix_http::{Method, Request};
use signpost_app::Application;
use signpost_app::certificates::challenge_answer;
use signpost_domain::Hostname;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::outage_log::OutageLog;
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
    outages: OutageLog,
}

impl Challenges {
    pub(crate) fn new() -> Self {
        Self { turns: Semaphore::const_new(AT_ONCE), outages: OutageLog::default() }
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
                // Anybody may ask.
                self.outages.note(|unlogged| {
                    tracing::warn!(%error, unlogged, "cannot read a challenge of the certificate authority");
                });
                Some(Outcome::Unavailable)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use actix_http::test::TestRequest;
    use signpost_app::certificates::Issuance;
    use signpost_app::ports::Clock;
    use signpost_domain::Email;
    use signpost_memory::{FakeCertificateAuthority, Fault, InMemory, ManualClock, MarkingSealer, Step};

    use super::*;

    /// A log in memory.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn d188_an_outage_is_logged_once_a_second_however_many_ask() {
        let memory = InMemory::default();
        let clock: Arc<dyn Clock> = Arc::<ManualClock>::clone(&memory.clock);
        let issuance = Issuance {
            authority: Arc::new(FakeCertificateAuthority::new(clock)),
            directory: "https://ca.example.net/directory".to_owned(),
            contact: Email::parse("ada@example.com").unwrap(),
            sealer: Arc::new(MarkingSealer::of(1)),
            own_names: Vec::new(),
        };
        let app = Application { issuance: Some(issuance), ..memory.application() };
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        let _logging = tracing::subscriber::set_default(subscriber);
        let challenges = Challenges::new();
        let requests = 1_000;
        memory.store.faults().fail_next(Step::Read, Fault::Unavailable, requests);
        for _ in 0..requests {
            let request = TestRequest::with_uri("/.well-known/acme-challenge/0123456789012345678901")
                .insert_header(("host", "go.example.com"))
                .finish();
            assert_eq!(challenges.answer(&app, &request).await, Some(Outcome::Unavailable));
        }
        let lines = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let lines = lines.matches("cannot read a challenge").count();
        assert!((1..requests / 10).contains(&lines), "{lines} lines");
    }
}
