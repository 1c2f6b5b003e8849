//! Contended and failing stores (D6, D30).

use std::fmt::Debug;

use signpost_app::links::{self, ListLinks};
use signpost_app::ports::StoreError;
use signpost_app::{AppError, Caller, groups};
use signpost_domain::{
    Change, Group, LinkFilter, LinkKind, PageLimit, Precondition, Redirect, RedirectContent, RedirectRequest,
    Submitted,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{
    World, assert_internal, create_as, draft, draft_without_slug, get_redirect, group_of, list_redirects,
    update_as,
};

const STEPS: [Step; 3] = [Step::Begin, Step::Write, Step::Commit];

/// Every use case that writes for a caller.
#[derive(Debug, Clone, Copy)]
enum Writing {
    CreateRedirect,
    GenerateSlug,
    UpdateRedirect,
    DeleteRedirect,
    CreateGroup,
    RenameGroup,
    DeleteGroup,
}

const ALL: [Writing; 7] = [
    Writing::CreateRedirect,
    Writing::GenerateSlug,
    Writing::UpdateRedirect,
    Writing::DeleteRedirect,
    Writing::CreateGroup,
    Writing::RenameGroup,
    Writing::DeleteGroup,
];

/// A world with a group and a link in it.
struct Scene {
    world: World,
    caller: Caller,
    group: Group,
    link: Redirect,
}

impl Scene {
    async fn new() -> Self {
        let world = World::new().await;
        let group = world.group("Spring").await;
        let link = world
            .create(RedirectRequest { group: Change::Set(group.id.into()), ..draft("old") })
            .await
            .unwrap();
        let caller = world.caller().await;
        Self { world, caller, group, link }
    }

    async fn run(&self, writing: Writing) -> Result<(), AppError> {
        let Self { world, caller, group, link } = self;
        let app = &world.app;
        let grouped = |draft| RedirectRequest { group: Change::Set(group.id.into()), ..draft };
        match writing {
            Writing::CreateRedirect => create_as(app, caller, grouped(draft("new"))).await.map(drop),
            Writing::GenerateSlug => create_as(app, caller, grouped(draft_without_slug())).await.map(drop),
            Writing::UpdateRedirect => {
                let patch = RedirectRequest {
                    slug: Change::Set(samples::slug("moved")),
                    group: Change::Clear,
                    ..RedirectRequest::default()
                };
                update_as(app, caller, link.id, patch).await.map(drop)
            }
            Writing::DeleteRedirect => {
                links::delete(app, caller, link.id.into(), &Precondition::None).await.map(drop)
            }
            Writing::CreateGroup => group_of(app, caller, "New").await.map(drop),
            Writing::RenameGroup => {
                groups::rename(app, caller, group.id.into(), Ok(samples::name("New")), &Precondition::None)
                    .await
                    .map(drop)
            }
            Writing::DeleteGroup => {
                groups::delete(app, caller, group.id.into(), &Precondition::None).await.map(drop)
            }
        }
    }

    /// Everything that the account has: how many links and groups by count and by list, and all of them.
    async fn all(&self) -> impl Debug + PartialEq + use<> {
        let store = &self.world.app.store;
        let account = self.world.account.id;
        let limit = PageLimit::new(100).unwrap();
        let filter = LinkFilter::default();
        let links = store.links(account, LinkKind::Redirect, &filter, limit, None).await.unwrap().items;
        let groups = store.groups(account, limit, None).await.unwrap().items;
        let usage = store.usage(account).await.unwrap().unwrap();
        assert_eq!(usize::try_from(usage.links).unwrap(), links.len());
        assert_eq!(usize::try_from(usage.groups).unwrap(), groups.len());
        (links.len(), groups.len(), links, groups)
    }

    async fn counts(&self) -> (u64, u64, u64) {
        let usage = self.world.usage().await;
        let group = self.world.app.store.group(self.world.account.id, self.group.id).await.unwrap();
        (usage.links, usage.groups, group.map_or(0, |group| group.redirects_count))
    }
}

/// The counts after the use case: links, groups, links in the group.
const fn counts_after(writing: Writing) -> (u64, u64, u64) {
    match writing {
        Writing::CreateRedirect | Writing::GenerateSlug => (2, 1, 2),
        Writing::UpdateRedirect => (1, 1, 0),
        Writing::DeleteRedirect => (0, 1, 0),
        Writing::CreateGroup => (1, 2, 1),
        Writing::RenameGroup => (1, 1, 1),
        Writing::DeleteGroup => (1, 0, 0),
    }
}

#[tokio::test]
async fn d30_four_contended_attempts_are_retried() {
    for writing in ALL {
        for step in STEPS {
            for times in [1, 2, 4] {
                let scene = Scene::new().await;
                scene.world.memory.store.faults().fail_next(step, Fault::Contended, times);
                scene.run(writing).await.unwrap();
                assert_eq!(scene.world.memory.store.faults().outstanding(), 0);
                assert_eq!(
                    scene.counts().await,
                    counts_after(writing),
                    "{writing:?}, {step:?}, {times} times"
                );
            }
        }
    }
}

#[tokio::test]
async fn d30_the_fifth_contended_attempt_fails_and_leaves_nothing() {
    for writing in ALL {
        for step in STEPS {
            let scene = Scene::new().await;
            let before = scene.all().await;
            let faults = scene.world.memory.store.faults();
            faults.fail_next(step, Fault::Contended, 6);
            let failure = scene.run(writing).await.unwrap_err();
            assert!(matches!(failure, AppError::Store(StoreError::Contended)), "{writing:?}: {failure:?}");
            assert_eq!(faults.outstanding(), 1, "{writing:?} at {step:?} was tried five times");
            assert_internal(Err::<(), _>(failure));
            assert_eq!(scene.all().await, before, "{writing:?}, {step:?}");
        }
    }
}

/// All attempts share one time limit, which the store counts from the first.
#[tokio::test]
async fn d30_a_retry_is_begun_as_a_retry() {
    for writing in ALL {
        for step in STEPS {
            let scene = Scene::new().await;
            let before = scene.all().await;
            let faults = scene.world.memory.store.faults();
            faults.fail_next(step, Fault::Contended, 1);
            faults.fail_next(Step::BeginAgain, Fault::Unavailable, 1);
            let failure = scene.run(writing).await.unwrap_err();
            assert!(
                matches!(failure, AppError::Store(StoreError::Unavailable(_))),
                "{writing:?}: {failure:?}"
            );
            assert_eq!(faults.outstanding(), 0, "{writing:?} at {step:?} was begun again");
            assert_eq!(scene.all().await, before, "{writing:?}, {step:?}");
        }
    }
}

/// It is not retried.
#[tokio::test]
async fn d6_a_failed_write_is_an_internal_error_without_effect() {
    for writing in ALL {
        for step in STEPS {
            for fault in [Fault::Unavailable, Fault::Corrupt] {
                let scene = Scene::new().await;
                let before = scene.all().await;
                let faults = scene.world.memory.store.faults();
                faults.fail_next(step, fault, 2);
                assert_internal(scene.run(writing).await);
                assert_eq!(faults.outstanding(), 1, "{writing:?} at {step:?} was tried once");
                assert_eq!(scene.all().await, before, "{writing:?}, {step:?}, {fault:?}");
                // The next one goes through.
                assert_internal(scene.run(writing).await);
                scene.run(writing).await.unwrap();
                assert_eq!(scene.counts().await, counts_after(writing));
            }
        }
    }
}

#[tokio::test]
async fn d6_a_failed_read_is_an_internal_error() {
    let Scene { world, caller, group, link } = Scene::new().await;
    let app = &world.app;
    world.memory.store.faults().set_unavailable(true);
    assert_internal(get_redirect(app, &caller, link.id.into()).await);
    assert_internal(list_redirects(app, &caller, ListLinks::default()).await);
    assert_internal(groups::get(app, &caller, group.id.into()).await);
    assert_internal(groups::list(app, &caller, PageLimit::default(), None).await);
    // An invalid update reads the redirect to list its further violations.
    let violations = signpost_domain::FieldError::new(signpost_domain::ViolationCode::TooLong, "is too long")
        .at("name")
        .into();
    let command = Submitted { value: RedirectRequest::default(), violations };
    assert_internal(
        links::update::<RedirectContent>(app, &caller, link.id.into(), command, &Precondition::None).await,
    );
    world.memory.store.faults().set_unavailable(false);
    assert_eq!(get_redirect(app, &caller, link.id.into()).await.unwrap(), link);
}
