//! Renaming, merging and deleting tags (D122).

use signpost_app::ports::RenameTagError;
use signpost_domain::Link;

use super::fixture::Fresh;
use super::given::{KINDS, PLENTY, unit};
use super::stored;
use super::tags::{counted, counts, given_links, given_tags, id_of, name, needed, provide, tagged, tags};
use crate::samples;

cases! {
    $ tag_changes
    a_renamed_tag_keeps_its_links_and_no_other_name
    links_move_to_another_tag_in_bounded_steps
    a_tag_is_emptied_in_bounded_steps_and_deleted
    only_unused_tags_are_withdrawn
}

/// A taken name leaves the unit of work usable. Links do not change with it (D122).
pub(super) async fn a_renamed_tag_keeps_its_links_and_no_other_name(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let [link] = given_links(&store, account, [tagged(KINDS[0], "s", &["a", "b"])]).await;
    given_tags(&store, other, &["c"]).await;
    let (a, b) = (id_of(&store, account, "a").await, id_of(&store, account, "b").await);
    let renamed = unit!(&store, async |work| {
        assert_eq!(work.lock_tag(account, a).await?, Some(name("a")));
        match work.rename_tag(account, a, &name("B")).await {
            Err(RenameTagError::NameTaken(taken)) => assert_eq!(taken, b),
            outcome => panic!("{outcome:?}"),
        }
        assert!(work.rename_tag(account, a, &name("c")).await.is_ok());
        assert!(work.rename_tag(account, a, &name("C")).await.is_ok(), "another spelling of its own name");
        Ok(work.locked_tag(account, a).await?)
    });
    let renamed = renamed.await.unwrap();
    assert_eq!((renamed.id, renamed.name, renamed.links_count), (a, name("C"), 1));
    let expected = Link { tags: tags(&["b", "C"]), ..link };
    assert_eq!(stored::link(&store, account, expected.id()).await, Some(expected));
    assert_eq!(given_tags(&store, account, &["A", "c"]).await[1], (a, name("C")));
    assert_eq!(counts(&store, account).await, counted([("A", 0), ("C", 1), ("b", 1)]));
    stored::counters_are_right(&store, account).await;
}

pub(super) async fn links_move_to_another_tag_in_bounded_steps(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links = given_links(
        &store,
        account,
        [
            tagged(KINDS[0], "a", &["from", "x"]),
            tagged(KINDS[1], "b", &["from"]),
            tagged(KINDS[1], "c", &["from", "to"]),
            tagged(KINDS[0], "d", &["from"]),
            tagged(KINDS[0], "e", &["to"]),
        ],
    )
    .await;
    let (from, to) = (id_of(&store, account, "from").await, id_of(&store, account, "to").await);
    let some = async |at_most: u16| {
        let moved = unit!(&store, async |work| {
            for id in [from, to] {
                assert!(work.lock_tag(account, id).await?.is_some());
            }
            Ok(work.move_tagged_links(account, from, to, at_most).await?)
        });
        moved.await.unwrap()
    };
    assert_eq!(some(3).await, 3);
    assert_eq!(counts(&store, account).await[0], ("from".to_owned(), 1));
    assert_eq!((some(3).await, some(3).await), (1, 0));
    assert_eq!(counts(&store, account).await, counted([("from", 0), ("to", 5), ("x", 1)]));
    let names = [&["to", "x"][..], &["to"], &["to"], &["to"], &["to"]];
    for (link, names) in links.into_iter().zip(names) {
        let expected = Link { tags: tags(names), ..link };
        assert_eq!(
            stored::link(&store, account, expected.id()).await,
            Some(expected),
            "nothing else changes"
        );
    }
}

pub(super) async fn a_tag_is_emptied_in_bounded_steps_and_deleted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let links = given_links(
        &store,
        account,
        ["a", "b", "c"].map(|slug| tagged(KINDS[usize::from(slug == "b")], slug, &["gone", "stays"])),
    )
    .await;
    let gone = id_of(&store, account, "gone").await;
    let some = async |at_most: u16| {
        unit!(&store, async |work| Ok(work.untag_links(account, gone, at_most).await?)).await.unwrap()
    };
    assert_eq!(some(2).await, 2);
    assert_eq!(counts(&store, account).await, counted([("gone", 1), ("stays", 3)]));
    assert_eq!((some(2).await, some(2).await), (1, 0));
    let delete =
        async || unit!(&store, async |work| Ok(work.delete_tag(account, gone).await?)).await.unwrap();
    assert_eq!((delete().await, delete().await), (true, false));
    for link in links {
        let expected = Link { tags: tags(&["stays"]), ..link };
        assert_eq!(
            stored::link(&store, account, expected.id()).await,
            Some(expected),
            "nothing else changes"
        );
    }
    assert_eq!(counts(&store, account).await, counted([("stays", 3)]));
    stored::counters_are_right(&store, account).await;
    let next = given_tags(&store, account, &["gone"]).await;
    assert_ne!(next[0].0, gone);
}

pub(super) async fn only_unused_tags_are_withdrawn(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    given_links(&store, account, [tagged(KINDS[0], "s", &["used"])]).await;
    let foreign = given_tags(&store, other, &["foreign"]).await[0].0;
    let withdrawn = unit!(&store, async |work| {
        let needs = [needed(&["used", "unused", "kept"])];
        let provided = provide(work, account, &needs, PLENTY).await?;
        let id = |text: &str| provided.iter().find(|(_, one)| *one == name(text)).unwrap().0;
        let ids = [id("used"), id("unused"), foreign, samples::id()];
        Ok(work.delete_unused_tags(account, &ids).await?)
    });
    withdrawn.await.unwrap();
    assert_eq!(counts(&store, account).await, counted([("kept", 0), ("used", 1)]));
    assert_eq!(counts(&store, other).await, counted([("foreign", 0)]));
    stored::counters_are_right(&store, account).await;
    stored::counters_are_right(&store, other).await;
}
