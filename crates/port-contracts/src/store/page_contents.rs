//! The content of landing pages (D34, D35), which is written and read separately from the page itself.

use signpost_app::ports::{Affected, UnitOfWork, VisibleChange};
use signpost_domain::{
    AccountId, AltText, Description, Landing, LandingId, LinkKind, PageContent, Placement, Widget,
    WidgetBody, WidgetContent, WidgetId, WidgetText, Widgets,
};

use super::change_reading::Reader;
use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, Decision, unit};
use super::page_values::{contents, described, longest_url};
use super::stored;
use super::tags::given_tags;
use crate::one_of_each;
use crate::run::at_once;
use crate::samples;

cases! {
    $ page_contents
    a_new_page_is_empty
    page_content_reads_back_as_written
    contents_of_several_pages_are_written_at_once
    a_page_holds_the_maximum_content
    d35_unknown_widgets_are_kept_verbatim
    r1_another_account_reads_and_writes_no_page
    changing_a_link_keeps_its_page_content
    deleting_a_page_deletes_its_content
    changing_page_content_logs_the_address
    concurrent_changes_of_a_page_lose_nothing
    a_page_and_its_content_are_read_from_one_snapshot
}

/// A store with an account and a landing page.
async fn scene(fresh: &Fresh) -> (StoreUnderTest, AccountId, Landing) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let page = given::link(&store, account, samples::landing("page")).await;
    (store, account, page)
}

/// Locks the page and reads its content.
async fn locked(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    id: LandingId,
) -> Result<PageContent, Decision> {
    assert!(work.lock_link(account, id.into()).await?.is_some(), "no such page");
    Ok(work.page_content(account, id).await?)
}

/// No matter how it was inserted and what its other fields are.
pub(super) async fn a_new_page_is_empty(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    given_tags(&store, account, &one_of_each::TAGS).await;
    let pages = one_of_each::landings();
    given::links(&store, account, &pages).await;
    for page in &pages {
        let found = store.landing_page(account, page.id).await.unwrap();
        let expected = page.clone().with_content(PageContent::default());
        assert_eq!(found, Some(expected));
        let within = unit!(&store, async |work| locked(work, account, page.id).await).await;
        assert_eq!(within, Ok(PageContent::default()));
    }
}

/// Every field reads back through each read method, also after overwriting; the page itself does not change.
pub(super) async fn page_content_reads_back_as_written(fresh: Fresh) {
    let (store, account, page) = scene(&fresh).await;
    let bystander = given::link(&store, account, samples::landing("bystander")).await;
    let of_bystander = described("The bystander's");
    given::write_page(&store, account, bystander.id, &of_bystander).await;
    for content in contents() {
        let written = unit!(&store, async |work| {
            locked(work, account, page.id).await?;
            work.write_page_content(account, page.id, &content).await?;
            // The unit of work sees its own changes.
            Ok(work.page_content(account, page.id).await?)
        });
        assert_eq!(written.await.as_ref(), Ok(&content));
        let found = store.landing_page(account, page.id).await.unwrap();
        assert_eq!(found, Some(page.clone().with_content(content.clone())));
        let within = unit!(&store, async |work| locked(work, account, page.id).await).await;
        assert_eq!(within.as_ref(), Ok(&content));
        // Lists return the page itself, without its content.
        let listed = stored::first_page(&store, account, LinkKind::Landing).await;
        assert_eq!(listed.items, [bystander.clone().into_any(), page.clone().into()]);
        let published = stored::published(&store, &page.placement).await;
        assert_eq!(published, Some(stored::publication_of_page(account, &page, &content)));
    }
    assert_eq!(stored::page_content(&store, account, bystander.id).await, Some(of_bystander));
}

/// Each page gets its own content. A page of another account fails the call, and nothing is written.
pub(super) async fn contents_of_several_pages_are_written_at_once(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let mut pages = Vec::new();
    for slug in ["a", "b", "c"] {
        pages.push(given::link(&store, account, samples::landing(slug)).await.id);
    }
    let foreign = given::link(&store, other, samples::landing("d")).await.id;
    let [first, empty, third] = [described("First"), PageContent::default(), samples::page_content()];
    let written = unit!(&store, async |work| {
        work.write_page_contents(account, &[]).await?;
        Ok(work
            .write_page_contents(account, &[(pages[2], &third), (pages[0], &first), (pages[1], &empty)])
            .await?)
    });
    written.await.unwrap();
    for (page, content) in pages.iter().zip([&first, &empty, &third]) {
        assert_eq!(stored::page_content(&store, account, *page).await.as_ref(), Some(content));
    }
    let mut work = store.begin().await.unwrap();
    assert!(work.write_page_contents(account, &[(pages[0], &third), (foreign, &third)]).await.is_err());
    drop(work);
    assert_eq!(stored::page_content(&store, account, pages[0]).await, Some(first));
    assert_eq!(stored::page_content(&store, other, foreign).await, Some(empty));
}

/// The maximum number of widgets, of maximum lengths.
pub(super) async fn a_page_holds_the_maximum_content(fresh: Fresh) {
    let (store, account, page) = scene(&fresh).await;
    let widget = |number: usize| {
        let url = samples::web_url(&longest_url(number));
        if number.is_multiple_of(2) {
            let alt = AltText::parse(&"𝄞".repeat(AltText::MAX_CHARS)).unwrap();
            return WidgetContent::Image { image_url: url.clone(), alt, url: Some(url) };
        }
        WidgetContent::Text { text: WidgetText::parse(&"𝄞".repeat(WidgetText::MAX_CHARS)).unwrap() }
    };
    let full = PageContent {
        widgets: samples::widgets((0..Widgets::MAX).map(widget).collect()),
        ..described(&"𝄞".repeat(Description::MAX_CHARS))
    };
    for content in [&full, &samples::page_content(), &full] {
        given::write_page(&store, account, page.id, content).await;
        assert_eq!(stored::page_content(&store, account, page.id).await.as_ref(), Some(content));
    }
}

/// The store keeps a widget type of a newer version verbatim (D35).
pub(super) async fn d35_unknown_widgets_are_kept_verbatim(fresh: Fresh) {
    let (store, account, page) = scene(&fresh).await;
    let ids: [WidgetId; 3] = [samples::id(), samples::id(), samples::id()];
    // Numbers, spaces, escapes and an order of keys that a serializer would write differently.
    let fields = r#""type":"product", "price":1.10, "most":1e400,"big":123456789012345678901234567890,"tags":[ "\u00e4",{"b":null,"a":"ß"}]"#;
    let stored = format!(
        r#"{{"widgets":[{{"id":"{}","type":"divider"}},{{"id":"{}",{fields}}},{{"id":"{}","type":"heading","text":"Hi"}}]}}"#,
        ids[0], ids[1], ids[2],
    );
    let content = PageContent::from_json(&stored).unwrap();
    let json_of = |content: &PageContent| match content.widgets.as_slice() {
        [_, Widget { id, body: WidgetBody::Unknown(unknown) }, _] if *id == ids[1] => {
            unknown.as_json().to_owned()
        }
        widgets => panic!("the second widget is not unknown: {widgets:?}"),
    };
    let expected = json_of(&content);
    for kept in [
        r#""type":"product""#,
        r#""price":1.10"#,
        r#""most":1e400"#,
        r#""big":123456789012345678901234567890"#,
        r#""tags":[ "\u00e4",{"b":null,"a":"ß"}]"#,
    ] {
        assert!(expected.contains(kept), "{kept} in {expected}");
    }
    given::write_page(&store, account, page.id, &content).await;
    // The content is read and written again, as in an update of another field.
    for text in ["once", "twice"] {
        let rewritten = unit!(&store, async |work| {
            let before = locked(work, account, page.id).await?;
            assert_eq!(json_of(&before), expected);
            let after = PageContent { description: described(text).description, ..before };
            Ok(work.write_page_content(account, page.id, &after).await?)
        });
        rewritten.await.unwrap();
        let after = stored::page_content(&store, account, page.id).await.unwrap();
        assert_eq!(json_of(&after), expected);
        assert_eq!(after, PageContent { description: described(text).description, ..content.clone() });
    }
}

/// No use case writes a page that it could not lock. Even then the data of other accounts must not change, with any
/// answer of the store (R1).
pub(super) async fn r1_another_account_reads_and_writes_no_page(fresh: Fresh) {
    let (store, owner, page) = scene(&fresh).await;
    let stranger = given::account(&store).await;
    let content = described("The owner's");
    given::write_page(&store, owner, page.id, &content).await;
    let redirect = given::link(&store, owner, samples::redirect("redirect")).await;

    assert_eq!(store.landing_page(stranger, page.id).await.unwrap(), None);
    let mut work = store.begin().await.unwrap();
    if let Ok(found) = work.page_content(stranger, page.id).await {
        assert_eq!(found, PageContent::default());
    }
    drop(work);
    let twin = LandingId::from_bytes(redirect.id.to_bytes());
    for (account, id) in [(stranger, page.id), (stranger, twin), (owner, twin)] {
        let mut work = store.begin().await.unwrap();
        if work.write_page_content(account, id, &described("Stolen")).await.is_ok() {
            work.commit().await.unwrap();
        } else {
            drop(work);
        }
    }
    assert_eq!(stored::page_content(&store, owner, page.id).await, Some(content));
    assert_eq!(stored::redirect(&store, owner, redirect.id).await, Some(redirect));
    // A redirect's id does not find it, even with the same bits, and neither does an unknown id.
    let unknown = samples::id();
    for (account, id) in
        [(stranger, page.id), (stranger, twin), (owner, twin), (owner, unknown), (samples::id(), page.id)]
    {
        assert_eq!(store.landing_page(account, id).await.unwrap(), None);
    }
}

/// Updates of its fields, moves between groups and the loss of its address keep the content.
pub(super) async fn changing_a_link_keeps_its_page_content(fresh: Fresh) {
    let (store, account, page) = scene(&fresh).await;
    let [group, other] = given::two_groups(&store, account).await;
    let content = samples::page_content();
    given::write_page(&store, account, page.id, &content).await;
    for value in one_of_each::landings() {
        let Landing { id, created_at, analytics_enabled, .. } = page;
        let after = Landing { id, created_at, analytics_enabled, group_id: Some(group), ..value };
        given::update_link(&store, account, &after).await.unwrap();
        assert_eq!(stored::page_content(&store, account, id).await.as_ref(), Some(&content));
    }
    let ids = [page.id.into()];
    let now = samples::at(9);
    assert!(given::assign_links(&store, account, other, &ids, now).await.is_some());
    assert!(given::unassign_links(&store, account, other, &ids, now).await.is_some());
    assert!(given::assign_links(&store, account, group, &ids, now).await.is_some());
    let emptied = unit!(&store, async |work| Ok(work.ungroup_some_links(account, group, 9, now).await?));
    assert_eq!(emptied.await, Ok(1));
    assert!(given::assign_links(&store, account, group, &ids, now).await.is_some());
    assert!(unit!(&store, async |work| Ok(work.delete_group(account, group, now).await?)).await.unwrap());
    assert_eq!(stored::page_content(&store, account, page.id).await, Some(content));
}

/// A deleted page leaves no content behind: a new page with the same id and address is empty.
pub(super) async fn deleting_a_page_deletes_its_content(fresh: Fresh) {
    let (store, account, page) = scene(&fresh).await;
    let mut owner = account;
    for way in 0..3 {
        given::write_page(&store, owner, page.id, &samples::page_content()).await;
        match way {
            0 => assert!(given::delete_link(&store, owner, page.id).await),
            1 => {
                let some = unit!(&store, async |work| Ok(work.delete_some_links(owner, 10).await?)).await;
                assert_eq!(some, Ok(1));
            }
            _ => {
                assert!(unit!(&store, async |work| Ok(work.delete_account(owner).await?)).await.unwrap());
                assert_eq!(store.landing_page(owner, page.id).await.unwrap(), None);
                owner = given::account(&store).await;
            }
        }
        assert_eq!(store.landing_page(owner, page.id).await.unwrap(), None);
        given::link(&store, owner, page.clone()).await;
        let content = stored::page_content(&store, owner, page.id).await;
        assert_eq!(content, Some(PageContent::default()));
    }
}

/// One entry has the address of the page, also together with other changes of it. A page without an address logs nothing.
pub(super) async fn changing_page_content_logs_the_address(fresh: Fresh) {
    let (store, account, page) = scene(&fresh).await;
    let root = samples::landing_at(samples::on_custom("pages.example.net", None));
    let root = given::link(&store, account, root).await;
    let lost = given::link(&store, account, samples::landing_at(samples::lost(Some("lost")))).await;
    let mut reader = Reader::at_the_end(&store).await;
    let change = |placements: &[&Placement]| VisibleChange {
        account,
        affected: Affected::Addresses(
            placements.iter().filter_map(|placement| placement.address()).collect(),
        ),
    };
    for page in [&page, &root] {
        let written = unit!(&store, async |work| {
            locked(work, account, page.id).await?;
            assert_eq!(work.changes(), [], "a read logged a change");
            work.write_page_content(account, page.id, &samples::page_content()).await?;
            assert_eq!(work.changes(), [change(&[&page.placement])]);
            Ok(())
        });
        written.await.unwrap();
        assert_eq!(reader.news(&store).await, [change(&[&page.placement])]);
    }
    given::write_page(&store, account, lost.id, &samples::page_content()).await;
    assert_eq!(reader.news(&store).await, []);

    let moved = Landing { placement: samples::on_system("moved"), ..page.clone() };
    let both = unit!(&store, async |work| {
        let before = work.lock_link(account, page.id.into()).await?.unwrap();
        work.write_page_content(account, page.id, &PageContent::default()).await?;
        work.update_link(account, &before, &moved.clone().into()).await?;
        work.write_page_content(account, page.id, &described("Moved")).await?;
        Ok(())
    });
    both.await.unwrap();
    assert_eq!(reader.news(&store).await, [change(&[&page.placement, &moved.placement])]);

    let mut work = store.begin().await.unwrap();
    locked(work.as_mut(), account, page.id).await.unwrap();
    work.write_page_content(account, page.id, &PageContent::default()).await.unwrap();
    drop(work);
    assert_eq!(reader.news(&store).await, [], "a rolled back change was logged");
}

/// A page and its content stay locked until the unit of work ends, so no change is lost.
pub(super) async fn concurrent_changes_of_a_page_lose_nothing(fresh: Fresh) {
    let (store, account, page) = scene(&fresh).await;
    given::write_page(&store, account, page.id, &described("0")).await;
    let changes = at_once(30, |_| {
        let (store, id) = (store.clone(), page.id);
        async move {
            let counted = unit!(&store, async |work| {
                let before = locked(work, account, id).await?.description.unwrap();
                let count: u32 = before.as_str().parse().unwrap();
                tokio::task::yield_now().await;
                Ok(work.write_page_content(account, id, &described(&(count + 1).to_string())).await?)
            });
            counted.await.unwrap();
        }
    });
    changes.await;
    assert_eq!(stored::page_content(&store, account, page.id).await, Some(described("30")));
}

/// A reader never gets a page from one commit with the content of another.
pub(super) async fn a_page_and_its_content_are_read_from_one_snapshot(fresh: Fresh) {
    const CHANGES: u32 = 40;
    let (store, account, page) = scene(&fresh).await;
    let titled = |count: u32| Landing { name: samples::name(&count.to_string()), ..page.clone() };
    let set = async |count: u32| {
        let changed = unit!(&store, async |work| {
            let before = work.lock_link(account, page.id.into()).await?.unwrap();
            work.update_link(account, &before, &titled(count).into()).await?;
            tokio::task::yield_now().await;
            Ok(work.write_page_content(account, page.id, &described(&count.to_string())).await?)
        });
        changed.await.unwrap();
    };
    set(0).await;
    let (reading_store, id) = (store.clone(), page.id);
    let last = titled(CHANGES).name;
    let reader = tokio::spawn(async move {
        loop {
            let page = reading_store.landing_page(account, id).await.unwrap().expect("the page is there");
            assert_eq!(page.content, described(page.name.as_str()));
            if page.name == last {
                break;
            }
            tokio::task::yield_now().await;
        }
    });
    for count in 1..=CHANGES {
        set(count).await;
    }
    reader.await.unwrap();
}
