//! Inserting, deleting, listing and finding pixels, and the ids that redirects keep.

use signpost_app::ports::{InsertPixelError, UnitOfWork};
use signpost_domain::{AccountId, PagePosition, Pixel, PixelId, PixelIds, PixelType, Redirect, Timestamp};

use super::fixture::Fresh;
use super::given::{self, AT_ONCE, Decision, PLENTY, unit};
use super::stored;
use crate::samples;

fn ids(pixels: &[Pixel]) -> Vec<PixelId> {
    pixels.iter().map(|pixel| pixel.id).collect()
}

fn sorted(mut pixels: Vec<Pixel>) -> Vec<Pixel> {
    pixels.sort_by_key(|pixel| pixel.id);
    pixels
}

/// Every field reads back through each read method, for each type (D36).
pub(super) async fn a_pixel_reads_back_as_it_was_inserted(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let mut pixels: Vec<Pixel> = PixelType::ALL
        .iter()
        .map(|pixel_type| Pixel {
            code: samples::pixel_code(*pixel_type),
            ..samples::pixel("One of its type")
        })
        .collect();
    pixels.extend([
        // A duplicate of code and name.
        samples::pixel("One of its type"),
        Pixel { name: None, ..samples::pixel("x") },
        Pixel { created_at: Timestamp::EPOCH, ..samples::pixel(&"𝄞".repeat(100)) },
        Pixel { created_at: Timestamp::LAST, ..samples::pixel("'; -- %_ \"ß\"") },
        Pixel { id: PixelId::from_bytes([0; 16]), ..samples::pixel("The lowest id") },
        Pixel { id: PixelId::from_bytes([0xff; 16]), ..samples::pixel("The highest id") },
    ]);
    for pixel in &pixels {
        given::insert_pixel(&store, account, pixel, PLENTY).await.unwrap();
        assert_eq!(store.pixel(account, pixel.id).await.unwrap().as_ref(), Some(pixel));
        let found = store.pixels_with_ids(account, &[pixel.id]).await.unwrap();
        assert_eq!(found, std::slice::from_ref(pixel));
    }
    assert_eq!(stored::pixels(&store, account).await, sorted(pixels));
    stored::counters_are_right(&store, account).await;
}

/// An id that any account uses is an error and not a decision: the whole unit of work is lost.
pub(super) async fn pixel_ids_are_unique_across_accounts(fresh: Fresh) {
    let store = fresh.store().await;
    let owner = given::account(&store).await;
    let other = given::account(&store).await;
    let pixel = given::pixel(&store, owner).await;
    let again = Pixel { id: pixel.id, ..samples::pixel("Another") };
    for account in [owner, other] {
        let mut work = store.begin().await.unwrap();
        let outcome = work.insert_pixel(account, &again, PLENTY).await;
        assert!(matches!(outcome, Err(InsertPixelError::Store(_))), "{outcome:?}");
        drop(work);
        stored::counters_are_right(&store, account).await;
    }
    assert_eq!(store.pixel(owner, pixel.id).await.unwrap(), Some(pixel.clone()));
    assert_eq!(store.pixel(other, pixel.id).await.unwrap(), None);
    // After the deletion of its pixel, any account may use the id.
    assert!(given::delete_pixel(&store, owner, pixel.id).await);
    given::insert_pixel(&store, other, &again, PLENTY).await.unwrap();
    assert_eq!(store.pixel(other, pixel.id).await.unwrap(), Some(again));
    assert_eq!(store.pixel(owner, pixel.id).await.unwrap(), None);
}

pub(super) async fn unknown_pixels_are_not_found(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let known = given::pixel(&store, account).await;
    let unknown = samples::id();
    assert_eq!(store.pixel(account, unknown).await.unwrap(), None);
    assert!(!given::delete_pixel(&store, account, unknown).await);
    assert!(given::delete_pixel(&store, account, known.id).await);
    assert!(!given::delete_pixel(&store, account, known.id).await, "the pixel was deleted already");
    assert_eq!(store.pixel(account, known.id).await.unwrap(), None);
    let unknown_account: AccountId = samples::id();
    assert_eq!(store.pixel(unknown_account, known.id).await.unwrap(), None);
    assert!(!given::delete_pixel(&store, unknown_account, known.id).await);
    assert_eq!(stored::pixels_count(&store, account).await, 0);
}

/// The account's count of pixels never exceeds the limit (D15), and a deletion makes room.
pub(super) async fn d15_pixels_never_exceed_the_limit(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    // Groups and links have separate counts.
    given::two_groups(&store, account).await;
    given::link(&store, account, samples::redirect("link")).await;
    let pixels: Vec<Pixel> = (0..4).map(|_| samples::pixel("One of a few")).collect();
    let insert =
        async |position: usize, limit| given::insert_pixel(&store, account, &pixels[position], limit).await;
    assert_eq!(insert(0, 0).await, Err(Decision::LimitReached));
    assert_eq!(insert(0, 2).await, Ok(()));
    assert_eq!(insert(1, 2).await, Ok(()));
    assert_eq!(insert(2, 2).await, Err(Decision::LimitReached));
    assert_eq!(insert(2, 1).await, Err(Decision::LimitReached), "the limit is below the count");
    assert_eq!(store.pixel(account, pixels[2].id).await.unwrap(), None);
    assert_eq!(stored::pixels_count(&store, account).await, 2);
    // The other account has its own count.
    given::insert_pixel(&store, other, &samples::pixel("Another's"), 1).await.unwrap();
    assert!(given::delete_pixel(&store, account, pixels[0].id).await);
    assert_eq!(insert(2, 2).await, Ok(()));
    assert_eq!(insert(3, 2).await, Err(Decision::LimitReached));
    assert_eq!(insert(3, u64::MAX).await, Ok(()));
    assert_eq!(stored::pixels_count(&store, account).await, 3);
    assert_eq!(stored::pixels_count(&store, other).await, 1);
    // Deleting an unknown or another account's pixel makes no room.
    for id in [pixels[0].id, samples::id()] {
        assert!(!given::delete_pixel(&store, account, id).await);
        assert!(!given::delete_pixel(&store, other, pixels[1].id).await);
    }
    assert_eq!(stored::pixels_count(&store, account).await, 3);
    assert_eq!(stored::pixels_count(&store, other).await, 1);
}

pub(super) async fn a_reached_limit_on_pixels_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let pixel = given::pixel(&store, account).await;
    let refused = samples::pixel("One too many");
    let outcome = unit!(&store, async |work| {
        let refusal = work.insert_pixel(account, &refused, 1).await;
        assert!(matches!(refusal, Err(InsertPixelError::LimitReached)), "{refusal:?}");
        assert!(work.delete_pixel(account, pixel.id).await?);
        work.insert_pixel(account, &refused, 1).await?;
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(store.pixel(account, pixel.id).await.unwrap(), None);
    assert_eq!(stored::pixels(&store, account).await, [refused]);
    stored::counters_are_right(&store, account).await;
}

/// A request may have been admitted before its account was deleted; the unit of work stays usable.
pub(super) async fn no_pixel_is_inserted_for_a_missing_account(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let missing = samples::id();
    let pixel = samples::pixel("Nobody's");
    let outcome = unit!(&store, async |work| {
        for limit in [0, PLENTY] {
            let refusal = work.insert_pixel(missing, &pixel, limit).await;
            assert!(matches!(refusal, Err(InsertPixelError::AccountMissing)), "{refusal:?}");
        }
        Ok(work.insert_pixel(account, &pixel, PLENTY).await?)
    });
    outcome.await.unwrap();
    assert_eq!(store.pixel(missing, pixel.id).await.unwrap(), None);
    assert_eq!(stored::pixels(&store, missing).await, []);
    assert_eq!(stored::pixels(&store, account).await, [pixel]);
}

pub(super) async fn pixels_are_listed_newest_first(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let empty = given::account(&store).await;
    let page = store.pixels(empty, given::limit(25), None).await.unwrap();
    assert_eq!((page.items, page.next), (vec![], None));

    let mut pixels: Vec<Pixel> = (0..23).map(|number| samples::pixel(&format!("Pixel {number}"))).collect();
    for position in (0..pixels.len()).map(|number| number * 5 % pixels.len()) {
        given::insert_pixel(&store, account, &pixels[position], PLENTY).await.unwrap();
        // Pixels of the other account are between them.
        given::pixel(&store, other).await;
    }
    pixels.reverse();
    for items in 1..=25 {
        let page = async |after| store.pixels(account, given::limit(items), after).await.unwrap();
        let (walked, pages) = given::walk(page).await;
        assert_eq!(walked, pixels);
        assert_eq!(pages, 23_usize.div_ceil(usize::try_from(items).unwrap()));
    }
    let behind = |position: usize| Some(PagePosition::behind(pixels[position].id.to_bytes()));
    assert_eq!(store.pixels(account, given::limit(5), behind(22)).await.unwrap().items, []);
    // A position is valid without a pixel at it.
    assert!(given::delete_pixel(&store, account, pixels[10].id).await);
    let page = store.pixels(account, given::limit(5), behind(10)).await.unwrap();
    assert_eq!(page.items, pixels[11..16]);
    let page = store.pixels(account, given::limit(5), behind(8)).await.unwrap();
    assert_eq!(ids(&page.items), ids(&[&pixels[9..10], &pixels[11..15]].concat()));
}

/// Zero, one or several pixels, each once and in any order; never another account's or deleted ones.
pub(super) async fn pixels_are_found_by_their_ids(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let mut pixels = Vec::new();
    for _ in 0..5 {
        pixels.push(given::pixel(&store, account).await);
    }
    let foreign = given::pixel(&store, other).await;
    let gone = given::pixel(&store, account).await;
    assert!(given::delete_pixel(&store, account, gone.id).await);
    let unknown: PixelId = samples::id();
    let [a, b, c, d, _] = [0, 1, 2, 3, 4].map(|position: usize| pixels[position].id);
    for (named, expected) in [
        (vec![], vec![]),
        (vec![a], vec![0]),
        (vec![d, a], vec![0, 3]),
        (vec![c, b, c, c], vec![1, 2]),
        (vec![a, a], vec![0]),
        (ids(&pixels), vec![0, 1, 2, 3, 4]),
        (vec![unknown], vec![]),
        (vec![unknown, gone.id, foreign.id], vec![]),
        (vec![unknown, b, gone.id, foreign.id, a, b], vec![0, 1]),
    ] {
        let expected: Vec<Pixel> =
            expected.into_iter().map(|position: usize| pixels[position].clone()).collect();
        let found = store.pixels_with_ids(account, &named).await.unwrap();
        assert_eq!(sorted(found), expected, "{named:?}");
    }
    let found = store.pixels_with_ids(other, &[a, foreign.id]).await.unwrap();
    assert_eq!(found, [foreign]);
    assert_eq!(store.pixels_with_ids(samples::id(), &[a]).await.unwrap(), []);
}

/// Up to ten pixels for each link of a batch.
pub(super) async fn one_call_finds_all_pixels_of_a_batch(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let pixels: Vec<Pixel> = (0..40).map(|number| samples::pixel(&format!("Pixel {number}"))).collect();
    let inserted = unit!(&store, async |work| {
        for pixel in &pixels {
            work.insert_pixel(account, pixel, PLENTY).await?;
        }
        Ok(())
    });
    inserted.await.unwrap();
    let mut named: Vec<PixelId> = (0..AT_ONCE * PixelIds::MAX).map(|_| samples::id()).collect();
    for (position, pixel) in pixels.iter().enumerate() {
        named[position * 25] = pixel.id;
    }
    let found = store.pixels_with_ids(account, &named).await.unwrap();
    assert_eq!(sorted(found), pixels);
}

/// Redirects refer to pixels by id. An id without a pixel has no effect, and deleting a pixel does not change redirects.
pub(super) async fn redirects_keep_the_ids_of_deleted_pixels(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let (kept, doomed) = (given::pixel(&store, account).await, given::pixel(&store, account).await);
    let foreign = given::pixel(&store, other).await;
    let pixel_ids = samples::pixel_ids(vec![doomed.id, samples::id(), kept.id, foreign.id]);
    let redirect = samples::redirect("link").with(|content| content.pixel_ids = pixel_ids);
    let redirect = given::link(&store, account, redirect).await;
    assert!(given::delete_pixel(&store, account, doomed.id).await);
    assert_eq!(stored::redirect(&store, account, redirect.id).await.as_ref(), Some(&redirect));
    let after = Redirect { name: samples::name("Renamed"), ..redirect };
    given::update_link(&store, account, &after).await.unwrap();
    assert_eq!(stored::redirect(&store, account, after.id).await.as_ref(), Some(&after));
    let named = store.pixels_with_ids(account, after.content.pixel_ids.as_slice()).await.unwrap();
    assert_eq!(named, std::slice::from_ref(&kept));
    // Deleting a redirect keeps its pixels.
    assert!(given::delete_link(&store, account, after.id).await);
    assert_eq!(stored::pixels(&store, account).await, [kept]);
    assert_eq!(stored::pixels(&store, other).await, [foreign]);
}

pub(super) async fn rollback_restores_the_count_of_pixels(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let kept = given::pixel(&store, account).await;
    let undone = samples::pixel("Undone");
    let steps = async |work: &mut dyn UnitOfWork| -> Result<(), Decision> {
        // A unit of work sees its own changes.
        work.insert_pixel(account, &undone, 2).await?;
        assert!(work.delete_pixel(account, undone.id).await?);
        work.insert_pixel(account, &undone, 2).await?;
        assert!(work.delete_pixel(account, kept.id).await?);
        assert!(!work.delete_pixel(account, kept.id).await?);
        Ok(())
    };
    for _ in 0..3 {
        let mut work = store.begin().await.unwrap();
        steps(work.as_mut()).await.unwrap();
        // Other readers do not see them yet.
        assert_eq!(stored::pixels(&store, account).await, std::slice::from_ref(&kept));
        drop(work);
        stored::counters_are_right(&store, account).await;
    }
    unit!(&store, async |work| steps(work).await).await.unwrap();
    assert_eq!(stored::pixels(&store, account).await, [undone]);
    stored::counters_are_right(&store, account).await;
}
