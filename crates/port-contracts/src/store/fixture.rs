//! The fixture of an adapter, and the stores that a case opens.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::ports::Store;
use signpost_domain::AccountId;

use super::given;

/// The store of one case, with everything that must live as long: temporary folders, servers.
#[async_trait]
pub trait StoreFixture: Sized + Send + Sync + 'static {
    /// The store; each call returns the same one.
    fn store(&self) -> Arc<dyn Store>;

    /// Closes the store and opens it again, like a restart of the program; committed changes are still there. The suite
    /// drops every other handle to the store before it calls this.
    async fn reopen(self) -> Self;
}

#[async_trait]
trait AnyFixture {
    fn store(&self) -> Arc<dyn Store>;
    async fn reopen(self: Box<Self>) -> Box<dyn AnyFixture>;
}

#[async_trait]
impl<F: StoreFixture> AnyFixture for F {
    fn store(&self) -> Arc<dyn Store> {
        StoreFixture::store(self)
    }

    async fn reopen(self: Box<Self>) -> Box<dyn AnyFixture> {
        Box::new(StoreFixture::reopen(*self).await)
    }
}

type Opening = Pin<Box<dyn Future<Output = Box<dyn AnyFixture>>>>;

/// Opens fresh stores for a case.
pub struct Fresh(Box<dyn Fn(Duration) -> Opening>);

/// The time limit for cases in which no caller may time out, even on a busy machine.
const PATIENT: Duration = Duration::from_secs(100);

impl Fresh {
    pub(super) fn new<F, O>(open: impl Fn(Duration) -> O + 'static) -> Self
    where
        F: StoreFixture,
        O: Future<Output = F> + 'static,
    {
        Self(Box::new(move |time_limit| {
            let opening = open(time_limit);
            Box::pin(async move {
                let fixture: Box<dyn AnyFixture> = Box::new(opening.await);
                fixture
            })
        }))
    }

    pub(super) async fn store(&self) -> StoreUnderTest {
        self.store_with_time_limit(PATIENT).await
    }

    /// A store with new accounts, as many as the caller names.
    pub(super) async fn store_with_accounts<const N: usize>(&self) -> (StoreUnderTest, [AccountId; N]) {
        let store = self.store().await;
        let mut accounts = Vec::new();
        for _ in 0..N {
            accounts.push(given::account(&store).await);
        }
        (store, accounts.try_into().unwrap())
    }

    pub(super) async fn store_with_time_limit(&self, time_limit: Duration) -> StoreUnderTest {
        StoreUnderTest::new((self.0)(time_limit).await)
    }
}

/// An open store; it closes at the end of the case.
pub(super) struct StoreUnderTest {
    store: Arc<dyn Store>,
    fixture: Box<dyn AnyFixture>,
}

impl StoreUnderTest {
    fn new(fixture: Box<dyn AnyFixture>) -> Self {
        Self { store: fixture.store(), fixture }
    }

    pub(super) async fn reopened(self) -> Self {
        let Self { store, fixture } = self;
        drop(store);
        Self::new(fixture.reopen().await)
    }
}

impl Deref for StoreUnderTest {
    type Target = Arc<dyn Store>;

    fn deref(&self) -> &Arc<dyn Store> {
        &self.store
    }
}
