//! The cards of redirects: what visits read of them (D24, D135), and how files move them.

use signpost_app::transfer::{Field, FieldValue, Imported, Record};
use signpost_app::visits::{Missing, PreviewCard, Resolution};
use signpost_domain::{
    Change, Feature, Link, LinkPreview, Redirect, RedirectRequest, RedirectStatus, Refusal,
};
use signpost_port_contracts::samples;

use crate::transfer::{exported, import, record, stored};
use crate::world::{World, draft, plan, refusal};

const END: &str = "https://target.example/end";
const IMAGE: &str = "https://img.example/sale.png";

fn card() -> LinkPreview {
    samples::preview("Sale", Some("two\nlines "), Some(IMAGE))
}

fn to(slug: &str, target: &str) -> Redirect {
    samples::redirect(slug).with(|content| content.target_url = samples::target(target))
}

fn with_card(redirect: Redirect) -> Redirect {
    redirect.with(|content| content.preview = Some(card()))
}

async fn resolved(world: &World, slug: &str) -> (Resolution, Option<PreviewCard>) {
    let resolved = world.resolved("go.example.com", Some(slug)).await;
    (resolved.resolution, resolved.card)
}

/// A previewer that opened the links one after the other would get the card of `b`.
#[tokio::test]
async fn d24_d135_a_chain_ends_before_a_link_with_a_card() {
    let world = World::new().await;
    for redirect in
        [to("a", "https://go.example.com/b"), with_card(to("b", "https://go.example.com/c")), to("c", END)]
    {
        world.store_as_it_is(redirect).await;
    }
    let next = Resolution::Redirect(samples::target("https://go.example.com/b"));
    assert_eq!(resolved(&world, "a").await, (next, None));
    let own = PreviewCard { preview: card(), url: "https://go.example.com/b".to_owned() };
    let end = Resolution::Redirect(samples::target(END));
    assert_eq!(resolved(&world, "b").await, (end, Some(own)), "what follows is inlined");
}

#[tokio::test]
async fn d24_a_chain_with_a_card_that_returns_to_itself_leads_nowhere() {
    let world = World::new().await;
    for redirect in [to("a", "https://go.example.com/b"), with_card(to("b", "https://go.example.com/a"))] {
        world.store_as_it_is(redirect).await;
    }
    for slug in ["a", "b"] {
        let resolved = world.resolved("go.example.com", Some(slug)).await;
        assert_eq!((resolved.resolution, resolved.missing), (Resolution::NotThere, Missing::Loop), "{slug}");
    }
}

/// D132: a card is no gate. A switched-off link shows none.
#[tokio::test]
async fn d135_a_card_leaves_the_status_alone_and_goes_with_the_link() {
    let world = World::new().await;
    let permanent = RedirectStatus::MovedPermanently;
    let redirect = with_card(to("a", END)).with(|content| content.way.redirect_status = permanent);
    world.store_as_it_is(redirect).await;
    let resolved = world.resolved("go.example.com", Some("a")).await;
    assert_eq!(resolved.sending.status, permanent);
    assert!(resolved.card.is_some());
    world.store_as_it_is(Redirect { is_active: false, ..with_card(to("off", END)) }).await;
    assert_eq!(self::resolved(&world, "off").await, (Resolution::NotThere, None));
}

#[tokio::test]
async fn d137_cards_stay_after_a_downgrade_and_new_ones_are_refused() {
    let with = |slug: &str| draft(slug).with(|content| content.preview = Change::Set(card()));
    let lacking = World::with_plan(plan(&[])).await;
    let refused = Refusal::FeatureNotAvailable(Feature::LinkPreviews);
    assert_eq!(refusal(lacking.create(with("a")).await), refused);
    let kept = lacking.store_as_it_is(with_card(to("b", END))).await;
    let same = RedirectRequest::default().with(|content| content.preview = Change::Set(card()));
    assert_eq!(lacking.update(kept.id, same).await.unwrap(), kept, "D33");
    let other = samples::preview("Other", None, None);
    let other = RedirectRequest::default().with(|content| content.preview = Change::Set(other));
    assert_eq!(refusal(lacking.update(kept.id, other).await), refused);

    let world = World::with_plan(plan(&[Feature::LinkPreviews])).await;
    assert_eq!(world.create(with("a")).await.unwrap().content.preview, Some(card()));
}

fn row(others: &[(Field, &str)]) -> Record {
    let own = [(Field::Slug, "x"), (Field::TargetUrl, END)];
    record(&[&own[..], others].concat())
}

fn with_parts() -> Record {
    row(&[
        (Field::PreviewTitle, " Sale "),
        (Field::PreviewDescription, "two\nlines "),
        (Field::PreviewImageUrl, IMAGE),
    ])
}

async fn world(features: &[Feature]) -> World {
    let world = World::with_plan(plan(features)).await;
    world.memory.clock.set(samples::at(1_000_000));
    world
}

async fn one(world: &World, record: Record) -> Imported {
    import(&world.app, world.account.id, vec![record]).await.pop().unwrap()
}

#[tokio::test]
async fn d135_the_card_of_a_record_is_judged_as_that_of_a_creation() {
    let world = world(&[Feature::LinkPreviews]).await;
    let (title, text) = ("x".repeat(201), "x".repeat(501));
    let sale = (Field::PreviewTitle, "Sale");
    let landing = [(Field::Object, "landing"), (Field::Title, "x"), sale];
    for (record, field) in [
        (row(&[(Field::PreviewTitle, &title)]), "preview_title"),
        (row(&[(Field::PreviewTitle, "a\u{7}b")]), "preview_title"),
        (row(&[sale, (Field::PreviewDescription, &text)]), "preview_description"),
        (row(&[sale, (Field::PreviewImageUrl, "data:image/png,")]), "preview_image_url"),
        (row(&[(Field::PreviewDescription, "x")]), "preview_title"),
        (row(&[(Field::PreviewImageUrl, IMAGE)]), "preview_title"),
        (record(&landing), "preview_title"),
    ] {
        match one(&world, record).await {
            Imported::Failed { code, message } => {
                assert_eq!(code.as_str(), "invalid_request");
                assert!(message.starts_with(&format!("`{field}` ")), "{message}");
            }
            other => panic!("not refused: {other:?}"),
        }
    }
    assert_eq!(world.usage().await.links, 0);
    let without = self::world(&[]).await;
    match one(&without, with_parts()).await {
        Imported::Failed { code, .. } => assert_eq!(code.as_str(), "feature_not_available_on_current_plan"),
        other => panic!("not refused: {other:?}"),
    }
}

/// A part that the record leaves out is the same, and null is no value.
#[tokio::test]
async fn d135_a_redirect_moves_with_its_card_whose_parts_are_compared_one_by_one() {
    let (here, there) = (world(&[Feature::LinkPreviews]).await, world(&[Feature::LinkPreviews]).await);
    assert_eq!(one(&here, with_parts()).await, Imported::Created);
    let moved = exported(&here.app, here.account.id).await.remove(0);
    assert_eq!(one(&there, moved.clone()).await, Imported::Created);
    let (_, links) = stored(&there.app, there.account.id).await;
    let preview = links.into_iter().find_map(Link::into_redirect).unwrap().content.preview;
    assert_eq!(preview, Some(card()));
    for same in [moved.clone(), row(&[]), row(&[(Field::PreviewTitle, "Sale")])] {
        assert_eq!(one(&here, same).await, Imported::Unchanged);
    }
    let mut other = moved;
    other.set(Field::PreviewDescription, FieldValue::Null);
    other.set(Field::PreviewTitle, FieldValue::Text("Other".to_owned()));
    let differing = vec![Field::PreviewTitle, Field::PreviewDescription];
    assert_eq!(one(&here, other).await, Imported::Conflict { differing });
    assert_eq!(one(&here, row(&[(Field::Slug, "y")])).await, Imported::Created);
    let differing = vec![Field::PreviewTitle];
    let of_plain = row(&[(Field::Slug, "y"), (Field::PreviewTitle, "Sale")]);
    assert_eq!(one(&here, of_plain).await, Imported::Conflict { differing });
}
