//! The pixels of redirects, which this store keeps in arrays.

use signpost_app::ports::{Insertion, LinkReads, Store};
use signpost_domain::{Link, PixelIds, Redirect};
use signpost_port_contracts::samples;

use super::database::{PLENTY, account, migrated, open};

/// D36: in the given order. Redirects of one batch may have different numbers of pixels.
#[tokio::test(flavor = "multi_thread")]
async fn d36_each_redirect_of_a_batch_keeps_its_pixels_in_order() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let redirects: Vec<Redirect> = [0, 10, 1, 3]
        .into_iter()
        .map(|number| {
            let ids = std::iter::repeat_with(samples::id).take(number).collect::<Vec<_>>();
            let pixel_ids = PixelIds::new(ids.into_iter().rev().collect()).unwrap();
            samples::redirect(&format!("with-{number}")).with(|content| content.pixel_ids = pixel_ids)
        })
        .collect();
    let batch: Vec<Link> = redirects.iter().cloned().map(Link::from).collect();
    let mut work = store.begin().await.unwrap();
    let insertions = work.insert_links(account, &batch, PLENTY).await.unwrap();
    assert!(insertions.iter().all(|insertion| *insertion == Insertion::Done));
    work.commit().await.unwrap();
    for link in &batch {
        assert_eq!(store.link(account, link.id()).await.unwrap().as_ref(), Some(link));
    }
    let [none, ten, ..] = redirects.as_slice() else { panic!() };
    for (redirect, other) in [(none, ten), (ten, none)] {
        let after =
            redirect.clone().with(|content| content.pixel_ids = other.content.pixel_ids.clone()).into_any();
        let mut work = store.begin().await.unwrap();
        let before = work.lock_link(account, after.id()).await.unwrap().unwrap();
        work.update_link(account, &before, &after).await.unwrap();
        work.commit().await.unwrap();
        assert_eq!(store.link(account, after.id()).await.unwrap(), Some(after));
    }
}
