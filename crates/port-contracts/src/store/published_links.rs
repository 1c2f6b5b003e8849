//! What visitors come to: the link that occupies an address, whoever owns it.

use signpost_app::ports::PublishedLink;
use signpost_domain::{Address, Redirect, Site};

use super::fixture::Fresh;
use super::given::{self, unit};
use crate::samples;

fn address(site: Site, slug: Option<&str>) -> Address {
    Address { site, slug: slug.map(samples::slug) }
}

pub(super) async fn every_address_finds_its_own_link(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let host = |text| Site::Custom(samples::hostname(text));
    let placements = [
        (account, samples::on_system("Sale")),
        (other, samples::on_system("sale")),
        (account, samples::on_custom("a.example.net", Some("sale"))),
        (other, samples::on_custom("a.example.net", None)),
        (account, samples::on_custom("b.example.net", None)),
        (account, samples::lost(Some("lost"))),
    ];
    for (number, (owner, placement)) in placements.into_iter().enumerate() {
        let target_url = samples::target(&format!("https://example.com/ü?{number}"));
        let link = Redirect { target_url: target_url.clone(), ..samples::redirect_at(placement) };
        let link = given::redirect(&store, owner, link).await;
        if let Some(address) = link.placement.address() {
            let expected = PublishedLink { target_url, is_active: true, is_suspended: false };
            assert_eq!(store.published_link(&address).await.unwrap(), Some(expected));
        }
    }
    for unknown in [
        address(Site::System, Some("SALE")),
        address(Site::System, Some("lost")),
        address(Site::System, Some("sal_")),
        address(Site::System, None),
        address(host("a.example.net"), Some("Sale")),
        address(host("b.example.net"), Some("sale")),
        address(host("c.example.net"), None),
        address(host("example.net"), None),
    ] {
        assert_eq!(store.published_link(&unknown).await.unwrap(), None, "{unknown:?}");
    }
}

pub(super) async fn a_visitor_sees_each_change_once_it_is_committed(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let [old, new] = ["old", "new"].map(|slug| address(Site::System, Some(slug)));
    let mut link = given::redirect(&store, account, samples::redirect("old")).await;
    let seen = |link: &Redirect, is_suspended| {
        let target_url = link.target_url.clone();
        Some(PublishedLink { target_url, is_active: link.is_active, is_suspended })
    };

    link.is_active = false;
    given::update_redirect(&store, account, &link).await.unwrap();
    assert_eq!(store.published_link(&old).await.unwrap(), seen(&link, false));

    link.is_active = true;
    link.target_url = samples::target("https://example.org/elsewhere");
    given::update_redirect(&store, account, &link).await.unwrap();
    assert_eq!(store.published_link(&old).await.unwrap(), seen(&link, false));

    for since in [Some(samples::at(1)), None] {
        let suspended = unit!(&store, async |work| Ok(work.set_suspended(account, since).await?));
        assert!(suspended.await.unwrap());
        assert_eq!(store.published_link(&old).await.unwrap(), seen(&link, since.is_some()));
    }

    link.placement = samples::on_system("new");
    given::update_redirect(&store, account, &link).await.unwrap();
    assert_eq!(store.published_link(&old).await.unwrap(), None);
    assert_eq!(store.published_link(&new).await.unwrap(), seen(&link, false));

    let mut work = store.begin().await.unwrap();
    assert!(work.delete_redirect(account, link.id).await.unwrap());
    assert_eq!(store.published_link(&new).await.unwrap(), seen(&link, false), "it is not committed");
    work.commit().await.unwrap();
    assert_eq!(store.published_link(&new).await.unwrap(), None);
}
