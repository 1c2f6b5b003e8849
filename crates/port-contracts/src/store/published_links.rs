//! Published links: the link at an address, as visitors find it, whichever account owns it.

use signpost_app::ports::{PublishedContent, PublishedLink};
use signpost_domain::{
    AccountId, Address, AnyContent, Landing, Link, Pixel, PixelCode, PixelId, PixelType, Site,
};

use super::domain_steps;
use super::fixture::Fresh;
use super::given::{self, KINDS, PLENTY, unit};
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ published_links
    every_address_finds_its_own_link
    visitors_see_changes_after_the_commit
    d57_a_redirect_has_its_pixel_codes_in_its_order
    concurrent_visits_each_find_their_own_link
}

fn address(site: Site, slug: Option<&str>) -> Address {
    Address { site, slug: slug.map(samples::slug) }
}

/// A redirect with its target, a landing page with its title.
pub(super) async fn every_address_finds_its_own_link(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
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
            let link: Link = if (number + shift) % 2 == 0 {
                samples::redirect_at(placement).with(|content| content.target_url = target_url).into()
            } else {
                Landing { name: title, ..samples::landing_at(placement) }.into()
            };
            let link = given::link(&store, owner, link).await;
            if let Some(address) = link.placement.address() {
                let expected = stored::publication_of(owner, &link);
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

pub(super) async fn visitors_see_changes_after_the_commit(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let [old, new] = ["old", "new"].map(samples::on_system);
    for kind in KINDS {
        let link = given::link(&store, account, samples::link(kind, "old")).await;
        // The link with this activity, content and address.
        let state = |is_active, version: &str, placement| {
            Link { is_active, name: samples::name(version), placement, ..link.clone() }.with(|content| {
                if let AnyContent::Redirect(redirect) = content {
                    redirect.target_url = samples::target(&format!("https://example.org/{version}"));
                }
            })
        };
        for (is_active, version) in [(false, "first"), (true, "second"), (true, "third")] {
            let link = state(is_active, version, old.clone());
            given::update_link(&store, account, &link).await.unwrap();
            let seen = stored::published(&store, &old).await;
            assert_eq!(seen, Some(stored::publication_of(account, &link)));
        }
        let link = state(true, "third", old.clone());
        for since in [Some(samples::at(1)), None] {
            let suspended = unit!(&store, async |work| Ok(work.set_suspended(account, since).await?));
            assert!(suspended.await.unwrap());
            let seen = stored::published(&store, &old).await;
            let open = stored::publication_of(account, &link);
            let expected = match since {
                Some(_) => PublishedLink { content: PublishedContent::Suspended, ..open },
                None => open,
            };
            assert_eq!(seen, Some(expected));
        }

        let moved = state(true, "third", new.clone());
        given::update_link(&store, account, &moved).await.unwrap();
        assert_eq!(stored::published(&store, &old).await, None);
        let expected = Some(stored::publication_of(account, &moved));
        assert_eq!(stored::published(&store, &new).await, expected);

        let mut work = store.begin().await.unwrap();
        assert_eq!(work.delete_links(account, &[link.id()]).await.unwrap(), [link.id()]);
        assert_eq!(stored::published(&store, &new).await, expected, "visible before the commit");
        work.commit().await.unwrap();
        assert_eq!(stored::published(&store, &new).await, None);
    }
}

/// D57: the redirect decides the order, not the ids or the order of insertion.
pub(super) async fn d57_a_redirect_has_its_pixel_codes_in_its_order(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let mut pixels: Vec<Pixel> = PixelType::ALL
        .iter()
        .map(|pixel_type| Pixel { code: samples::pixel_code(*pixel_type), ..samples::pixel("Own") })
        .collect();
    // The lowest and the highest id, with a code that another pixel has too.
    pixels.extend(
        [[0; 16], [0xff; 16]]
            .map(|bytes| Pixel { id: PixelId::from_bytes(bytes), ..samples::pixel("Same code") }),
    );
    for pixel in &pixels {
        given::insert_pixel(&store, account, pixel, PLENTY).await.unwrap();
    }
    let foreign = given::pixel(&store, other).await;
    let nowhere = samples::id();
    let redirect = given::link(&store, account, samples::redirect("pixels")).await;
    let expect = async |ids: &[PixelId], codes: Vec<PixelCode>| {
        let redirect = redirect.clone().with(|content| content.pixel_ids = samples::pixel_ids(ids.to_vec()));
        given::update_link(&store, account, &redirect).await.unwrap();
        let expected = stored::publication_with_pixels(account, &redirect, codes);
        assert_eq!(stored::published(&store, &redirect.placement).await, Some(expected));
    };
    let codes = |pixels: &[Pixel]| pixels.iter().map(|pixel| pixel.code.clone()).collect::<Vec<_>>();
    let ids = |pixels: &[Pixel]| pixels.iter().map(|pixel| pixel.id).collect::<Vec<_>>();
    for (start, number) in [(0, 1), (0, 10), (1, 2), (2, 8), (5, pixels.len() - 5)] {
        let mut some = pixels[start..start + number].to_vec();
        expect(&ids(&some), codes(&some)).await;
        some.reverse();
        expect(&ids(&some), codes(&some)).await;
    }
    // Pixels of another account and unknown ones are omitted, at both ends and in between.
    let [first, second, third] = [&pixels[4], &pixels[1], &pixels[7]];
    let mixed = [foreign.id, first.id, nowhere, second.id, foreign.id, third.id, samples::id()];
    expect(&mixed, [first, second, third].map(|pixel| pixel.code.clone()).into()).await;
    assert!(given::delete_pixel(&store, account, second.id).await);
    let left = stored::publication_with_pixels(
        account,
        &redirect.clone().with(|content| content.pixel_ids = samples::pixel_ids(mixed.to_vec())),
        [first, third].map(|pixel| pixel.code.clone()),
    );
    assert_eq!(stored::published(&store, &redirect.placement).await, Some(left));
    expect(&[foreign.id, nowhere], vec![]).await;
    expect(&[], vec![]).await;
}

/// Each of many concurrent callers gets the link at its own address, or none.
pub(super) async fn concurrent_visits_each_find_their_own_link(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let mut links: Vec<(AccountId, Link)> = Vec::new();
    for number in 0..90 {
        let slug = format!("link-{number}");
        let placement = match number % 3 {
            0 => samples::on_custom("a.example.net", Some(&slug)),
            _ => samples::on_system(&slug),
        };
        let owner = if number % 3 == 1 { other } else { account };
        links.push((owner, samples::link_at(KINDS[number % 2], placement)));
    }
    for owner in [account, other] {
        let own: Vec<Link> =
            links.iter().filter(|(of, _)| *of == owner).map(|(_, link)| link.clone()).collect();
        domain_steps::serve(&store, owner, own.iter().map(|link| &link.placement)).await;
        given::links(&store, owner, &own).await;
    }
    // Some addresses are read twice, and every seventh address has no link.
    let visit = |number| {
        let number = usize::try_from(number).unwrap();
        let store = store.clone();
        let (owner, link) = links[number * 7 % links.len()].clone();
        async move {
            if number % 7 == 0 {
                let nothing = samples::on_system(&format!("nothing-{number}"));
                assert_eq!(stored::published(&store, &nothing).await, None);
            } else {
                let found = stored::published(&store, &link.placement).await;
                assert_eq!(found, Some(stored::publication_of(owner, &link)));
            }
        }
    };
    at_once(200, visit).await;
}
