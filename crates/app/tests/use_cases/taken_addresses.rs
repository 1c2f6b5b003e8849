//! The refusal of a taken address (D20): it names the caller's own link, and no other account's.

use signpost_app::idempotency::Idempotency;
use signpost_app::{AppError, links};
use signpost_domain::{
    Batch, Change, HostReference, LandingId, LandingRequest, LinkId, RedirectContent, RedirectRequest,
    Refusal, Submitted,
};
use signpost_port_contracts::samples;

use crate::given_domains::draft_on;
use crate::world::{World, create_as, draft, page_draft, refusal};

const HOST: &str = "links.example.net";

fn taken_by(id: impl Into<LinkId>) -> Refusal {
    Refusal::AddressTaken { existing: Some(id.into()) }
}

const TAKEN: Refusal = Refusal::AddressTaken { existing: None };

async fn create_page(world: &World, slug: &str) -> Result<LandingId, AppError> {
    world.create_page(page_draft(slug)).await.map(|page| page.id)
}

#[tokio::test]
async fn d20_a_creation_names_the_callers_own_link_of_either_kind() {
    let world = World::new().await;
    let redirect = world.redirect("sale").await.id;
    let page = create_page(&world, "menu").await.unwrap();
    assert_eq!(refusal(world.create(draft("sale")).await), taken_by(redirect));
    assert_eq!(refusal(create_page(&world, "sale").await), taken_by(redirect));
    assert_eq!(refusal(world.create(draft("menu")).await), taken_by(page));
    assert_eq!(refusal(world.create(draft("admin")).await), Refusal::SlugReserved);
}

#[tokio::test]
async fn d20_another_accounts_link_is_never_named() {
    let world = World::new().await;
    let stranger = world.stranger().await;
    let theirs = create_as(&world.app, &stranger, draft("theirs")).await.unwrap().id;
    let own = world.redirect("own").await.id;
    assert_eq!(refusal(world.create(draft("theirs")).await), TAKEN);
    assert_eq!(refusal(create_as(&world.app, &stranger, draft("own")).await), TAKEN);
    assert_eq!(refusal(create_as(&world.app, &stranger, draft("theirs")).await), taken_by(theirs));
    let to_theirs =
        RedirectRequest { slug: Change::Set(samples::slug("theirs")), ..RedirectRequest::default() };
    assert_eq!(refusal(world.update(own, to_theirs).await), TAKEN);
}

/// The caller deletes the link at the address, after the store has refused the address and before it is asked for the link.
#[tokio::test]
async fn d20_an_address_that_becomes_free_after_the_refusal_is_given() {
    let world = World::new().await;
    let stranger = world.stranger().await;
    create_as(&world.app, &stranger, draft("theirs")).await.unwrap();
    let faults = world.memory.store.faults();
    faults.refuse_addresses(1);
    let id = world.create(draft("sale")).await.unwrap().id;
    let patch =
        |slug| RedirectRequest { slug: Change::Set(samples::slug(slug)), ..RedirectRequest::default() };
    faults.refuse_addresses(1);
    let updated = world.update(id, patch("summer")).await.unwrap();
    assert_eq!(world.stored(id).await, Some(updated));
    // The address may meanwhile belong to somebody else, or to another link of the caller.
    let again = world.redirect("again").await.id;
    for (slug, refused) in [("theirs", TAKEN), ("again", taken_by(again))] {
        faults.refuse_addresses(1);
        assert_eq!(refusal(world.create(draft(slug)).await), refused);
        faults.refuse_addresses(1);
        assert_eq!(refusal(world.update(id, patch(slug)).await), refused);
    }
}

#[tokio::test]
async fn d20_items_whose_addresses_become_free_are_created() {
    let world = World::new().await;
    world.memory.store.faults().refuse_addresses(1);
    let items = ["a", "a", "b"].map(|slug| Ok(Submitted::valid(draft(slug)))).to_vec();
    let caller = world.caller().await;
    let batch = Batch::new(items).unwrap();
    let outcomes = links::create_many::<RedirectContent>(&world.app, &caller, batch, Idempotency::disabled())
        .await
        .unwrap();
    let refusals: Vec<_> = outcomes.into_iter().map(Result::err).collect();
    assert_eq!(refusals, [None, Some(Refusal::DuplicateSlugInBatch.into()), None]);
}

#[tokio::test]
async fn d20_an_update_names_the_conflicting_link() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    let root = world.create(draft_on(HOST, None)).await.unwrap().id;
    let on_host = world.create(draft_on(HOST, Some("sale"))).await.unwrap().id;
    let on_system = world.redirect("sale").await.id;
    let patch = |domain, slug| RedirectRequest { domain, slug, ..RedirectRequest::default() };
    let to_host = patch(Change::Set(HostReference::parse(HOST)), Change::Keep);
    assert_eq!(refusal(world.update(on_system, to_host).await), taken_by(on_host));
    let to_root = patch(Change::Keep, Change::Clear);
    assert_eq!(refusal(world.update(on_host, to_root).await), taken_by(root));
    let to_system = patch(Change::Clear, Change::Keep);
    assert_eq!(refusal(world.update(on_host, to_system).await), taken_by(on_system));

    let page = create_page(&world, "menu").await.unwrap();
    let patch = LandingRequest { slug: Change::Set(samples::slug("sale")), ..LandingRequest::default() };
    assert_eq!(refusal(world.update_page(page, patch).await), taken_by(on_system));
}

/// The system domain has no root, and reserves slugs (D21). The slug may come with the domain.
#[tokio::test]
async fn d22_a_lost_link_returns_only_to_a_permitted_address() {
    let world = World::new().await;
    let taken = world.redirect("taken").await;
    let to_system = || RedirectRequest { domain: Change::Clear, ..RedirectRequest::default() };
    for (slug, why) in [
        (Some("taken"), taken_by(taken.id)),
        (Some("admin"), Refusal::SlugReserved),
        (None, Refusal::SlugRequiredForSystemDomain),
    ] {
        let lost = world.store_as_it_is(samples::redirect_at(samples::lost(slug))).await;
        assert_eq!(refusal(world.update(lost.id, to_system()).await), why);
        assert_eq!(world.stored(lost.id).await.as_ref(), Some(&lost));
        let free = format!("free-{}", slug.unwrap_or("root"));
        let both = RedirectRequest { slug: Change::Set(samples::slug(&free)), ..to_system() };
        let back = world.update(lost.id, both).await.unwrap();
        assert_eq!(back.placement, samples::on_system(&free));
    }
}
