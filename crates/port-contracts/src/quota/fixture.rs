//! The fixture of an adapter, and the stores that a case opens.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::QuotaStore;
use signpost_domain::AccountId;

/// The quota store of one case, with everything that must live as long.
#[async_trait]
pub trait QuotaFixture: Sized + Send + Sync + 'static {
    /// The quota store; each call returns the same one.
    fn quota(&self) -> Arc<dyn QuotaStore>;

    /// A new account, stored where the quota store looks for it.
    async fn account(&self) -> AccountId;

    /// Closes the store and opens it again, like a restart of the program. The suite drops every other handle to the store
    /// before it calls this.
    async fn reopen(self) -> Self;
}

#[async_trait]
trait AnyFixture {
    fn quota(&self) -> Arc<dyn QuotaStore>;
    async fn account(&self) -> AccountId;
    async fn reopen(self: Box<Self>) -> Box<dyn AnyFixture>;
}

#[async_trait]
impl<F: QuotaFixture> AnyFixture for F {
    fn quota(&self) -> Arc<dyn QuotaStore> {
        QuotaFixture::quota(self)
    }

    async fn account(&self) -> AccountId {
        QuotaFixture::account(self).await
    }

    async fn reopen(self: Box<Self>) -> Box<dyn AnyFixture> {
        Box::new(QuotaFixture::reopen(*self).await)
    }
}

type Opening = Pin<Box<dyn Future<Output = Box<dyn AnyFixture>>>>;

/// Opens fresh quota stores for a case.
pub struct Fresh(Box<dyn Fn() -> Opening>);

impl Fresh {
    pub(super) fn new<F, O>(open: impl Fn() -> O + 'static) -> Self
    where
        F: QuotaFixture,
        O: Future<Output = F> + 'static,
    {
        Self(Box::new(move || {
            let opening = open();
            Box::pin(async move {
                let fixture: Box<dyn AnyFixture> = Box::new(opening.await);
                fixture
            })
        }))
    }

    pub(super) async fn quota(&self) -> QuotaUnderTest {
        QuotaUnderTest::new((self.0)().await)
    }
}

/// An open quota store; it closes at the end of the case.
pub(super) struct QuotaUnderTest {
    quota: Arc<dyn QuotaStore>,
    fixture: Box<dyn AnyFixture>,
}

impl QuotaUnderTest {
    fn new(fixture: Box<dyn AnyFixture>) -> Self {
        Self { quota: fixture.quota(), fixture }
    }

    pub(super) async fn account(&self) -> AccountId {
        self.fixture.account().await
    }

    pub(super) async fn reopened(self) -> Self {
        let Self { quota, fixture } = self;
        drop(quota);
        Self::new(fixture.reopen().await)
    }
}

impl Deref for QuotaUnderTest {
    type Target = Arc<dyn QuotaStore>;

    fn deref(&self) -> &Arc<dyn QuotaStore> {
        &self.quota
    }
}
