//! What visitors come to: the link that occupies an address, whoever owns it.

use signpost_app::ports::{PublishedContent, PublishedLink};
use signpost_domain::{Address, Landing, Link, Redirect, Site};

use super::domain_steps;
use super::fixture::Fresh;
use super::given::{self, KINDS, unit};
use super::stored;
use crate::samples;

fn address(site: Site, slug: Option<&str>) -> Address {
    Address { site, slug: slug.map(samples::slug) }
}

/// A redirect with its target, a landing page with its title.
pub(super) async fn every_address_finds_its_own_link(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let host = |text| Site::Custom(samples::hostname(text));
    let placements = [
        (account, samples::on_system("Sale")),
        (other, samples::on_system("sale")),
        (account, samples::on_custom("a.example.net", Some("sale"))),
        (account, samples::on_custom("b.example.net", None)),
        (other, samples::on_custom("c.example.net", None)),
        (account, samples::lost(Some("lost"))),
    ];
    for (owner, placement) in &placements {
        domain_steps::serve(&store, *owner, [placement]).await;
    }
    for shift in 0..2 {
        let mut stored = Vec::new();
        for (number, (owner, placement)) in placements.clone().into_iter().enumerate() {
            let target_url = samples::target(&format!("https://example.com/ü?{number}"));
            let title = samples::name(&format!("Menü <{number}>"));
            let (link, content) = if (number + shift) % 2 == 0 {
                let link = Redirect { target_url: target_url.clone(), ..samples::redirect_at(placement) };
                (Link::from(link), PublishedContent::Redirect { target_url })
            } else {
                let link = Landing { title: title.clone(), ..samples::landing_at(placement) };
                (Link::from(link), PublishedContent::Landing { title })
            };
            let link = given::link(&store, owner, link).await;
            if let Some(address) = link.placement().address() {
                let expected = PublishedLink { content, is_active: true, is_suspended: false };
                assert_eq!(store.published_link(&address).await.unwrap(), Some(expected));
            }
            stored.push((owner, link));
        }
        for unknown in [
            address(Site::System, Some("SALE")),
            address(Site::System, Some("lost")),
            address(Site::System, Some("sal_")),
            address(Site::System, None),
            address(host("a.example.net"), Some("Sale")),
            address(host("b.example.net"), Some("sale")),
            address(host("c.example.net"), Some("sale")),
            address(host("d.example.net"), None),
            address(host("example.net"), None),
        ] {
            assert_eq!(store.published_link(&unknown).await.unwrap(), None, "{unknown:?}");
        }
        for (owner, link) in stored {
            assert!(given::delete_link(&store, owner, link.id()).await);
        }
    }
}

pub(super) async fn a_visitor_sees_each_change_once_it_is_committed(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let [old, new] = ["old", "new"].map(samples::on_system);
    for kind in KINDS {
        let link = given::link(&store, account, samples::link(kind, "old")).await;
        // The link's state: active or not, what a visitor gets, and where.
        let state = |is_active, version: &str, placement| match link.clone() {
            Link::Landing(landing) => {
                Link::from(Landing { is_active, title: samples::name(version), placement, ..landing })
            }
            Link::Redirect(redirect) => {
                let target_url = samples::target(&format!("https://example.org/{version}"));
                Link::from(Redirect { is_active, target_url, placement, ..redirect })
            }
        };
        for (is_active, version) in [(false, "first"), (true, "second"), (true, "third")] {
            let link = state(is_active, version, old.clone());
            given::update_link(&store, account, &link).await.unwrap();
            let seen = stored::published(&store, &old).await;
            assert_eq!(seen, Some(stored::publication_of(&link, false)));
        }
        let link = state(true, "third", old.clone());
        for since in [Some(samples::at(1)), None] {
            let suspended = unit!(&store, async |work| Ok(work.set_suspended(account, since).await?));
            assert!(suspended.await.unwrap());
            let seen = stored::published(&store, &old).await;
            assert_eq!(seen, Some(stored::publication_of(&link, since.is_some())));
        }

        let moved = state(true, "third", new.clone());
        given::update_link(&store, account, &moved).await.unwrap();
        assert_eq!(stored::published(&store, &old).await, None);
        let expected = Some(stored::publication_of(&moved, false));
        assert_eq!(stored::published(&store, &new).await, expected);

        let mut work = store.begin().await.unwrap();
        assert_eq!(work.delete_links(account, &[link.id()]).await.unwrap(), [link.id()]);
        assert_eq!(stored::published(&store, &new).await, expected, "it is not committed");
        work.commit().await.unwrap();
        assert_eq!(stored::published(&store, &new).await, None);
    }
}
