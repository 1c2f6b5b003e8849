//! The fixture of an adapter, and the domain name system that a case asks.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

use signpost_app::ports::DnsProvider;
use signpost_domain::CaaRecord;

/// A DNS record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A `TXT` record with these strings of at most 255 bytes each.
    Txt(Vec<Vec<u8>>),
    /// An `A` or `AAAA` record.
    Address(std::net::IpAddr),
    /// A `CNAME` record with its target.
    Alias(String),
    /// A `CAA` record.
    Caa(CaaRecord),
}

/// The domain name system of one case, with everything that must live as long. It has no names at first. A change applies
/// to every call of the port that begins afterwards.
pub trait DnsFixture: Send + Sync + 'static {
    /// The provider that asks it; each call returns the same one.
    fn dns(&self) -> Arc<dyn DnsProvider>;

    /// Makes `name` exist with exactly these records.
    fn set(&self, name: &str, records: Vec<Record>);

    /// Removes `name`.
    fn remove(&self, name: &str);

    /// Stops all answers, or resumes them.
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

/// The provider, with the domain name system that it asks.
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
