//! Inserting, deleting, listing and finding pixels, and the ids that redirects keep.

use signpost_domain::{Pixel, PixelId, PixelIds, PixelType, Redirect, Timestamp};

use super::fixture::Fresh;
use super::given::{self, AT_ONCE, PLENTY, unit};
use super::stored;
use crate::samples;

cases! {
    $ pixels
    a_pixel_reads_back_as_it_was_inserted
    pixels_are_found_by_their_ids
    one_call_finds_all_pixels_of_a_batch
    redirects_keep_the_ids_of_deleted_pixels
}

fn ids(pixels: &[Pixel]) -> Vec<PixelId> {
    pixels.iter().map(|pixel| pixel.id).collect()
}

fn sorted(mut pixels: Vec<Pixel>) -> Vec<Pixel> {
    pixels.sort_by_key(|pixel| pixel.id);
    pixels
}

/// Every field reads back through each read method, for each type (D36).
pub(super) async fn a_pixel_reads_back_as_it_was_inserted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
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

/// Zero, one or several pixels, each once and in any order; never another account's or deleted ones.
pub(super) async fn pixels_are_found_by_their_ids(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
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
    let (store, [account]) = fresh.store_with_accounts().await;
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
    let (store, [account, other]) = fresh.store_with_accounts().await;
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
