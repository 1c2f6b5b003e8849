//! Proves hostnames to the certificate authority in handshakes at port 443 (D188).

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use signpost_app::Application;
use signpost_app::certificates::handshake_proof;
use signpost_domain::Hostname;
use signpost_edge::OutageLog;
use signpost_listener::{TlsChallenges, TlsSite};
use signpost_tls::{TlsProtocol, challenge_site};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How many proofs are looked up and made at once. Anybody may ask for one, and visitors need the connections to the store.
const AT_ONCE: usize = 2;

/// How long a handshake waits for its turn. Authorities retry.
const PATIENCE: Duration = Duration::from_millis(500);

/// Makes proofs from the challenges of the store, a few at a time.
pub(crate) struct ChallengeHandshakes {
    app: Arc<Application>,
    protocol: TlsProtocol,
    turns: Semaphore,
    outages: OutageLog,
}

impl ChallengeHandshakes {
    pub(crate) fn new(app: Arc<Application>, protocol: TlsProtocol) -> Self {
        Self { app, protocol, turns: Semaphore::new(AT_ONCE), outages: OutageLog::default() }
    }

    async fn make(&self, server_name: &str) -> Option<TlsSite> {
        let hostname = Hostname::parse(server_name).ok()?;
        let _turn = timeout(PATIENCE, self.turns.acquire()).await.ok()?.ok()?;
        let key_authorization = match handshake_proof(&self.app, &hostname).await {
            Ok(proof) => proof?,
            Err(error) => {
                self.outages.note(|unlogged| {
                    tracing::warn!(%error, unlogged, "cannot read challenges of the certificate authority");
                });
                return None;
            }
        };
        let made = challenge_site(&self.protocol, &hostname, &key_authorization);
        made.inspect_err(|error| tracing::error!(%hostname, %error, "cannot prove a hostname in a handshake"))
            .ok()
    }
}

impl TlsChallenges for ChallengeHandshakes {
    fn proof<'a>(&'a self, server_name: &'a str) -> BoxFuture<'a, Option<TlsSite>> {
        self.make(server_name).boxed()
    }
}
