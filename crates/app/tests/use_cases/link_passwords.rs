//! Passwords of links (D131): setting and removing them in every way, and checking what visitors type.

use signpost_app::idempotency::Idempotency;
use signpost_app::links::{self, LinkUpdate, ListLinks, NamedLink, Put};
use signpost_app::ports::StoreError;
use signpost_app::visits::{PasswordCheck, PasswordCheckError, Resolution, check_password};
use signpost_app::{AppError, Caller};
use signpost_domain::{
    AccountId, Batch, Change, ExternalId, Feature, LandingRequest, Link, LinkId, LinkPassword, Password,
    Precondition, Redirect, RedirectContent, RedirectRequest, RedirectStatus, Refusal, Rejection, Submitted,
    ViolationCode, Violations, Way,
};
use signpost_port_contracts::samples;

use crate::world::{World, draft, list_redirects, page_draft, plan, refusal, violation, violations};

fn password(text: &str) -> Change<LinkPassword> {
    Change::Set(LinkPassword::choose(text).unwrap())
}

fn with(password: Change<LinkPassword>) -> RedirectRequest {
    RedirectRequest { password, ..RedirectRequest::default() }
}

fn closed(slug: &str, text: &str) -> RedirectRequest {
    RedirectRequest { password: password(text), ..draft(slug) }
}

impl World {
    async fn try_password(
        &self,
        link: impl Into<LinkId>,
        text: &str,
    ) -> Result<PasswordCheck, PasswordCheckError> {
        check_password(&self.app, link.into(), self.account.id, Password::typed(text)).await
    }

    async fn opens(&self, link: impl Into<LinkId>, text: &str) -> PasswordCheck {
        self.try_password(link, text).await.unwrap()
    }

    async fn put(&self, id: &str, request: RedirectRequest) -> Result<Put<Redirect>, AppError> {
        let (caller, id) = (self.caller().await, ExternalId::parse(id).unwrap());
        let request = Submitted::valid(request);
        let put =
            links::put::<RedirectContent>(&self.app, &caller, &id, request, &Precondition::None).await?;
        Ok(match put {
            Put::Created(single) => Put::Created(single.redirect),
            Put::Changed(single) => Put::Changed(single.redirect),
        })
    }

    fn hashes(&self) -> usize {
        self.memory.link_passwords.work()
    }
}

#[tokio::test]
async fn d131_links_of_both_kinds_open_with_their_password_only() {
    let world = World::new().await;
    let redirect = world.create(closed("a", "mint")).await.unwrap();
    let page =
        world.create_page(LandingRequest { password: password("sage"), ..page_draft("b") }).await.unwrap();
    assert!(redirect.has_password && page.has_password);
    for (link, own, other) in [(LinkId::from(redirect.id), "mint", "sage"), (page.id.into(), "sage", "mint")]
    {
        assert_eq!(world.opens(link, own).await, PasswordCheck::Right);
        for wrong in [other, "", "Mint", " mint", &"x".repeat(10_000)] {
            assert_eq!(world.opens(link, wrong).await, PasswordCheck::Wrong, "{wrong}");
        }
    }
    // The passwords of people are hashed elsewhere.
    assert_eq!(world.memory.passwords.work(), 0);
}

#[tokio::test]
async fn d131_an_update_sets_replaces_and_removes_a_password() {
    let world = World::new().await;
    let redirect = world.redirect("a").await;
    assert_eq!(world.opens(redirect.id, "mint").await, PasswordCheck::NoPassword);
    let closed = world.update(redirect.id, with(password("mint"))).await.unwrap();
    assert_eq!(world.opens(redirect.id, "mint").await, PasswordCheck::Right);
    // Another change keeps it.
    let off = RedirectRequest { is_active: Some(false), ..RedirectRequest::default() };
    assert!(world.update(redirect.id, off).await.unwrap().has_password);
    assert_eq!(world.opens(redirect.id, "mint").await, PasswordCheck::Right);
    // D120: each one that is set is a change.
    let before = world.stored(redirect.id).await.unwrap();
    let again = world.update(redirect.id, with(password("mint"))).await.unwrap();
    assert_eq!(again.revision, before.revision.next());
    assert!(closed.revision < again.revision);
    world.update(redirect.id, with(password("sage"))).await.unwrap();
    assert_eq!(world.opens(redirect.id, "mint").await, PasswordCheck::Wrong);
    assert_eq!(world.opens(redirect.id, "sage").await, PasswordCheck::Right);
    assert!(!world.update(redirect.id, with(Change::Clear)).await.unwrap().has_password);
    assert_eq!(world.opens(redirect.id, "sage").await, PasswordCheck::NoPassword);
    let page = world.create_page(page_draft("b")).await.unwrap();
    let patch = LandingRequest { password: password("mint"), ..LandingRequest::default() };
    assert!(world.update_page(page.id, patch).await.unwrap().has_password);
    assert_eq!(world.opens(page.id, "mint").await, PasswordCheck::Right);
}

#[tokio::test]
async fn d121_d131_a_put_sets_a_password_of_a_new_and_of_an_existing_link() {
    let world = World::new().await;
    let Put::Created(created) = world.put("1", closed("a", "mint")).await.unwrap() else { panic!() };
    assert_eq!(world.opens(created.id, "mint").await, PasswordCheck::Right);
    let Put::Changed(changed) = world.put("1", with(password("sage"))).await.unwrap() else { panic!() };
    assert_eq!((changed.id, world.hashes()), (created.id, 3));
    assert_eq!(world.opens(created.id, "sage").await, PasswordCheck::Right);
    let Put::Changed(kept) = world.put("1", draft("a")).await.unwrap() else { panic!() };
    assert!(kept.has_password);
}

fn creations(drafts: Vec<RedirectRequest>) -> Batch<Result<Submitted<RedirectRequest>, Violations>> {
    Batch::new(drafts.into_iter().map(|draft| Ok(Submitted::valid(draft))).collect()).unwrap()
}

async fn create_many(
    world: &World,
    drafts: Vec<RedirectRequest>,
) -> Result<Vec<Result<Redirect, Rejection>>, AppError> {
    let (caller, items) = (world.caller().await, creations(drafts));
    links::create_many::<RedirectContent>(&world.app, &caller, items, Idempotency::disabled()).await
}

/// Each gets its own, also where others of the batch are refused.
#[tokio::test]
async fn d30_d131_links_of_a_batch_get_their_own_passwords() {
    let world = World::new().await;
    world.redirect("taken").await;
    let drafts = vec![
        closed("taken", "lost"),
        closed("a", "mint"),
        draft("b"),
        closed("c", "sage"),
        closed("a", "x y z"),
    ];
    let outcomes = create_many(&world, drafts).await.unwrap();
    let [_, Ok(a), Ok(b), Ok(c), _] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    assert!(outcomes[0].is_err() && outcomes[4].is_err());
    assert_eq!(world.opens(a.id, "mint").await, PasswordCheck::Right);
    assert_eq!(world.opens(b.id, "sage").await, PasswordCheck::NoPassword);
    assert_eq!(world.opens(c.id, "sage").await, PasswordCheck::Right);

    let item = |link: &Redirect, request| {
        Ok(LinkUpdate {
            link: NamedLink::Id(link.id.into()),
            request: Submitted::valid(request),
            if_revision: None,
        })
    };
    let missing = samples::redirect("missing");
    let items = vec![
        item(a, with(Change::Clear)),
        item(&missing, with(password("lost"))),
        item(b, with(password("thyme"))),
        item(c, RedirectRequest { is_active: Some(false), ..RedirectRequest::default() }),
    ];
    let caller = world.caller().await;
    let items = Batch::new(items).unwrap();
    let outcomes = links::update_many::<RedirectContent>(&world.app, &caller, items).await.unwrap();
    let has: Vec<_> =
        outcomes.iter().map(|outcome| outcome.as_ref().ok().map(|it| it.has_password)).collect();
    assert_eq!(has, [Some(false), None, Some(true), Some(true)]);
    assert_eq!(world.opens(a.id, "mint").await, PasswordCheck::NoPassword);
    assert_eq!(world.opens(b.id, "thyme").await, PasswordCheck::Right);
    assert_eq!(world.opens(c.id, "sage").await, PasswordCheck::Right);
}

/// A hash costs much, so nobody gets one for a request that is refused anyway.
#[tokio::test]
async fn d131_d137_a_refused_request_hashes_nothing() {
    let world = World::with_plan(plan(&[])).await;
    let refused = Refusal::FeatureNotAvailable(Feature::LinkAccess);
    assert_eq!(refusal(world.create(closed("a", "mint")).await), refused);
    let redirect = world.redirect("a").await;
    assert_eq!(refusal(world.update(redirect.id, with(password("mint"))).await), refused);
    let invalid = Submitted {
        value: closed("b", "mint"),
        violations: signpost_domain::FieldError::new(ViolationCode::InvalidType, "must be a string")
            .at("note")
            .into(),
    };
    let able = World::new().await;
    let found = violations(able.create_submitted(invalid).await);
    assert_eq!(found, [violation("note", ViolationCode::InvalidType)]);
    assert_eq!((world.hashes(), able.hashes()), (0, 0));
}

/// A link keeps its password after a downgrade, and may always lose it.
#[tokio::test]
async fn d137_a_password_outlives_the_feature() {
    let world = World::with_plan(plan(&[])).await;
    let redirect = world.store_as_it_is(Redirect { has_password: true, ..samples::redirect("a") }).await;
    let off = RedirectRequest { is_active: Some(false), ..RedirectRequest::default() };
    assert!(world.update(redirect.id, off).await.unwrap().has_password);
    assert!(!world.update(redirect.id, with(Change::Clear)).await.unwrap().has_password);
    assert!(!world.stored(redirect.id).await.unwrap().has_password);
}

#[tokio::test]
async fn d131_nothing_changes_while_no_place_for_a_hash_is_free() {
    let world = World::new().await;
    let redirect = world.create(closed("a", "mint")).await.unwrap();
    world.memory.link_passwords.set_full(true);
    for outcome in [
        world.create(closed("b", "mint")).await.map(drop),
        world.update(redirect.id, with(password("sage"))).await.map(drop),
        world.put("1", closed("c", "mint")).await.map(drop),
        create_many(&world, vec![draft("d"), closed("e", "mint")]).await.map(drop),
    ] {
        assert!(matches!(outcome, Err(AppError::PasswordsBusy)), "{outcome:?}");
    }
    assert_eq!(world.usage().await.links, 1);
    assert!(matches!(world.try_password(redirect.id, "mint").await, Err(PasswordCheckError::Busy)));
    // Removing one needs no hash, nor does anything else.
    world.redirect("f").await;
    assert!(!world.update(redirect.id, with(Change::Clear)).await.unwrap().has_password);
}

/// Visitors cannot keep owners out.
#[tokio::test]
async fn d131_a_visitor_waits_for_a_place_of_strangers() {
    let world = World::new().await;
    world.memory.link_passwords.set_busy(true);
    let redirect = world.create(closed("a", "mint")).await.unwrap();
    let busy = world.try_password(redirect.id, "mint").await;
    assert!(matches!(busy, Err(PasswordCheckError::Busy)), "{busy:?}");
}

#[tokio::test]
async fn d131_a_link_without_its_hash_stays_closed() {
    let world = World::new().await;
    let redirect = world.store_as_it_is(Redirect { has_password: true, ..samples::redirect("a") }).await;
    let outcome = world.try_password(redirect.id, "mint").await;
    assert!(matches!(outcome, Err(PasswordCheckError::Store(StoreError::Corrupt { .. }))), "{outcome:?}");
}

#[tokio::test]
async fn d131_a_deleted_link_and_that_of_another_account_have_no_password() {
    let world = World::new().await;
    let redirect = world.create(closed("a", "mint")).await.unwrap();
    let stranger = AccountId::from_bytes([7; 16]);
    let outcome = check_password(&world.app, redirect.id.into(), stranger, Password::typed("mint")).await;
    assert_eq!(outcome.unwrap(), PasswordCheck::NoPassword);
    let caller: Caller = world.caller().await;
    links::delete(&world.app, &caller, redirect.id.into(), &Precondition::None).await.unwrap();
    assert_eq!(world.opens(redirect.id, "mint").await, PasswordCheck::NoPassword);
}

#[tokio::test]
async fn d126_lists_tell_links_with_a_password_from_others() {
    let world = World::new().await;
    let closed = world.create(closed("a", "mint")).await.unwrap();
    let open = world.redirect("b").await;
    for (has_password, expected) in [(Some(true), vec![closed.id]), (Some(false), vec![open.id])] {
        let query = ListLinks { has_password, ..ListLinks::default() };
        let page = list_redirects(&world.app, &world.caller().await, query).await.unwrap();
        let found: Vec<_> = page.items.iter().map(|link| link.id).collect();
        assert_eq!(found, expected, "{has_password:?}");
    }
}

/// Each visitor opens the link at `b` itself, which asks for the password. Its answer is the visitor's alone.
#[tokio::test]
async fn d129_d131_a_chain_ends_before_a_link_with_a_password() {
    const END: &str = "https://target.example/end";
    let to = |slug: &str, target: &str, has_password| {
        let redirect = Redirect { has_password, ..samples::redirect(slug) };
        redirect.with(|content| {
            content.target_url = samples::target(target);
            content.way = Way { redirect_status: RedirectStatus::PermanentRedirect, ..Way::default() };
        })
    };
    let world = World::new().await;
    world.store_as_it_is(to("a", "https://go.example.com/b", false)).await;
    world.store_as_it_is(to("b", "https://go.example.com/c", true)).await;
    world.store_as_it_is(to("c", END, false)).await;
    let first = world.resolved("go.example.com", Some("a")).await;
    let expected = Resolution::Redirect(samples::target("https://go.example.com/b"));
    assert_eq!((first.resolution, first.has_password), (expected, false));
    let own = world.resolved("go.example.com", Some("b")).await;
    let expected = Resolution::Redirect(samples::target(END));
    assert_eq!((own.resolution, own.has_password), (expected, true));
    assert_eq!(own.sending.status, RedirectStatus::TemporaryRedirect);

    let page = Link { has_password: true, ..samples::landing("menu").into() };
    let mut work = world.app.store.begin().await.unwrap();
    work.insert_links(world.account.id, &[page], 9).await.unwrap();
    work.commit().await.unwrap();
    world.store_as_it_is(to("d", "https://go.example.com/menu", false)).await;
    assert!(world.resolved("go.example.com", Some("menu")).await.has_password);
    let elsewhere = world.resolved("go.example.com", Some("d")).await;
    assert!(!elsewhere.has_password);
    assert_eq!(
        elsewhere.resolution,
        Resolution::LandingElsewhere { url: "https://go.example.com/menu".to_owned() }
    );
}
