//! What an adapter supplies, and what a case gets.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

use signpost_app::ports::DnsProvider;

/// A record that a name can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A `TXT` record of these strings, each of at most 255 bytes.
    Txt(Vec<Vec<u8>>),
    /// An `A` or `AAAA` record.
    Address(std::net::IpAddr),
    /// A `CNAME` record, with the name that this one is an alias of.
    Alias(String),
}

/// A domain name system of its own for one case, with all that must be kept alive as long. No name exists at first. What
/// is changed holds for every call of the port that begins afterwards.
pub trait DnsFixture: Send + Sync + 'static {
    /// What asks it, the same at every call.
    fn dns(&self) -> Arc<dyn DnsProvider>;

    /// From now on `name` exists and has these records and no others.
    fn set(&self, name: &str, records: Vec<Record>);

    /// From now on `name` does not exist.
    fn remove(&self, name: &str);

    /// From now on nobody gives answers, or all is well again.
    fn set_unavailable(&self, is_unavailable: bool);
}

type Opening = Pin<Box<dyn Future<Output = Box<dyn DnsFixture>>>>;

/// Opens fresh domain name systems for a case.
pub struct Fresh(Box<dyn Fn() -> Opening>);

impl Fresh {
    pub(super) fn new<F, O>(open: impl Fn() -> O + 'static) -> Self
    where
        F: DnsFixture,
        O: Future<Output = F> + 'static,
    {
        Self(Box::new(move || {
            let opening = open();
            Box::pin(async move {
                let fixture: Box<dyn DnsFixture> = Box::new(opening.await);
                fixture
            })
        }))
    }

    pub(super) async fn dns(&self) -> DnsUnderTest {
        let fixture = (self.0)().await;
        DnsUnderTest { dns: fixture.dns(), fixture }
    }
}

/// What asks, and what is asked.
pub(super) struct DnsUnderTest {
    dns: Arc<dyn DnsProvider>,
    fixture: Box<dyn DnsFixture>,
}

impl DnsUnderTest {
    pub(super) fn set(&self, name: &str, records: impl IntoIterator<Item = Record>) {
        self.fixture.set(name, records.into_iter().collect());
    }

    pub(super) fn remove(&self, name: &str) {
        self.fixture.remove(name);
    }

    pub(super) fn set_unavailable(&self, is_unavailable: bool) {
        self.fixture.set_unavailable(is_unavailable);
    }
}

impl Deref for DnsUnderTest {
    type Target = Arc<dyn DnsProvider>;

    fn deref(&self) -> &Arc<dyn DnsProvider> {
        &self.dns
    }
}
