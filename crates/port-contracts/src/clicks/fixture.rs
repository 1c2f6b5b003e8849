//! The fixture of an adapter, and the stores that a case opens.

use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use signpost_app::ports::ClickStore;

/// The click store of one case, with everything that must live as long: temporary folders, servers. Its time limit must be
/// a minute or more.
#[async_trait]
pub trait ClickFixture: Sized + Send + Sync + 'static {
    /// The store; each call returns the same one.
    fn clicks(&self) -> Arc<dyn ClickStore>;

    /// Closes the store and opens it again, like a restart of the program; appended clicks are still there. The suite drops
    /// every other handle to the store before it calls this.
    async fn reopen(self) -> Self;
}

#[async_trait]
trait AnyFixture {
    fn clicks(&self) -> Arc<dyn ClickStore>;
    async fn reopen(self: Box<Self>) -> Box<dyn AnyFixture>;
}

#[async_trait]
impl<F: ClickFixture> AnyFixture for F {
    fn clicks(&self) -> Arc<dyn ClickStore> {
        ClickFixture::clicks(self)
    }

    async fn reopen(self: Box<Self>) -> Box<dyn AnyFixture> {
        Box::new(ClickFixture::reopen(*self).await)
    }
}

type Opening = Pin<Box<dyn Future<Output = Box<dyn AnyFixture>>>>;

/// Opens fresh stores for a case.
pub struct Fresh(Box<dyn Fn() -> Opening>);

impl Fresh {
    pub(super) fn new<F, O>(open: impl Fn() -> O + 'static) -> Self
    where
        F: ClickFixture,
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

    pub(super) async fn store(&self) -> StoreUnderTest {
        StoreUnderTest::new((self.0)().await)
    }
}

/// An open store; it closes at the end of the case.
pub(super) struct StoreUnderTest {
    store: Arc<dyn ClickStore>,
    fixture: Box<dyn AnyFixture>,
}

impl StoreUnderTest {
    fn new(fixture: Box<dyn AnyFixture>) -> Self {
        Self { store: fixture.clicks(), fixture }
    }

    pub(super) async fn reopened(self) -> Self {
        let Self { store, fixture } = self;
        drop(store);
        Self::new(fixture.reopen().await)
    }
}

impl Deref for StoreUnderTest {
    type Target = Arc<dyn ClickStore>;

    fn deref(&self) -> &Arc<dyn ClickStore> {
        &self.store
    }
}
