//! Which links a list shows (contract "List filters for links", D32).

use signpost_domain::{GroupFilter, GroupId, LinkFilter, Redirect, SearchText, Site};

use super::fixture::{Fresh, StoreUnderTest};
use super::given;
use crate::samples;

async fn shown(
    store: &StoreUnderTest,
    account: signpost_domain::AccountId,
    filter: &LinkFilter,
    items: u64,
) -> Vec<Redirect> {
    let page = async |after| store.redirects(account, filter, given::limit(items), after).await.unwrap();
    given::walk(page).await.0
}

/// All filters hold at once, in pages of any size; the answers are compared with a plain search through all
/// links.
pub(super) async fn filters_combine(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let foreign = given::group(&store, other).await.id;
    let groups: [GroupId; 2] =
        [given::group(&store, account).await.id, given::group(&store, account).await.id];

    let mut links = Vec::new();
    for number in 0..96 {
        let text = if number % 2 == 0 { format!("Red-{number}") } else { format!("blue-{number}") };
        let placement = match number % 5 {
            0 | 1 => samples::on_system(&text),
            2 => samples::on_custom("a.example.net", Some(&text)),
            3 => samples::on_custom("b.example.net", Some(&text)),
            _ => samples::lost(Some(&text)),
        };
        links.push(Redirect {
            name: samples::name(&format!("Link {number}")),
            placement,
            group_id: [None, Some(groups[0]), Some(groups[1])][number % 3],
            is_active: number % 7 < 4,
            ..samples::redirect(&text)
        });
    }
    given::redirects(&store, account, &links).await;
    links.reverse();

    let host = |text| Site::Custom(samples::hostname(text));
    let group_filters = [GroupFilter::Any, GroupFilter::Ungrouped]
        .into_iter()
        .chain([groups[0], groups[1], foreign, samples::id()].map(GroupFilter::In));
    let sites = [None, Some(Site::System), Some(host("a.example.net")), Some(host("no.example.net"))];
    let searches = [None, Some("red"), Some("K 1"), Some("EXAMPLE.com/BLUE"), Some("nowhere")];
    let mut any_page_was_full = false;
    for group in group_filters {
        for site in &sites {
            for is_active in [None, Some(true), Some(false)] {
                for search in searches {
                    let passes = |link: &&Redirect| {
                        let in_group = match group {
                            GroupFilter::Any => true,
                            GroupFilter::Ungrouped => link.group_id.is_none(),
                            GroupFilter::In(group) => link.group_id == Some(group),
                        };
                        let lives_there =
                            site.is_none() || *site == link.placement.address().map(|address| address.site);
                        let found = search.is_none_or(|text| {
                            let slug = link.placement.slug().unwrap().as_str();
                            let fields = [link.name.as_str(), slug, link.target_url.as_str()];
                            let text = text.to_lowercase();
                            fields.iter().any(|field| field.to_lowercase().contains(&text))
                        });
                        in_group && lives_there && is_active.is_none_or(|is| link.is_active == is) && found
                    };
                    let expected: Vec<Redirect> = links.iter().filter(passes).cloned().collect();
                    let search = search.map(|text| SearchText::parse(text).unwrap());
                    let filter = LinkFilter { group, site: site.clone(), is_active, search };
                    any_page_was_full |= expected.len() > 5;
                    assert_eq!(shown(&store, account, &filter, 5).await, expected, "{filter:?}");
                    assert_eq!(shown(&store, account, &filter, 100).await, expected, "{filter:?}");
                    assert_eq!(shown(&store, other, &filter, 100).await, []);
                }
            }
        }
    }
    assert!(any_page_was_full);
}

/// `q` is a substring of name, slug or target, without regard to case in the Unicode sense; no character of
/// it is a pattern.
pub(super) async fn a_search_looks_for_a_substring(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let named = |name: &str, slug| Redirect { name: samples::name(name), ..samples::redirect(slug) };
    let links = [
        named("Straße nach Köln", "s1"),
        named("ΟΔΟΣ ΑΘΗΝΩΝ", "s2"),
        named("100% off_today", "s3"),
        named("a*b?c[d]e\\f'g\"h", "s4"),
        named("Ꮳꮃꭹ cherokee", "s5"),
        named("two  spaces", "Summer_Sale-24"),
        Redirect {
            target_url: samples::target("https://example.org/Über/?Q=%C3%A9"),
            ..named("plain", "s7")
        },
        Redirect { placement: samples::lost(Some("LostSlug")), ..named("lost", "x1") },
        Redirect { placement: samples::lost(None), ..named("lost root", "x2") },
        Redirect { placement: samples::on_custom("needle.example.net", None), ..named("root", "x3") },
        Redirect { note: Some(samples::note("needle")), ..named("noted", "s11") },
        named(&"ß".repeat(100), "s12"),
    ];
    given::redirects(&store, account, &links).await;
    let longest = "ß".repeat(100);
    for (text, expected) in [
        ("straße", &[0][..]),
        ("STRASSE", &[0]),
        ("KÖLN", &[0]),
        ("koln", &[]),
        ("οδος αθηνων", &[1]),
        ("Οδοσ", &[1]),
        ("%", &[2, 6]),
        ("100%", &[2]),
        ("_today", &[2]),
        ("f_t", &[2]),
        ("a%b", &[]),
        ("s_", &[]),
        ("a*b", &[3]),
        ("?c[d]", &[3]),
        ("[d]", &[3]),
        ("\\", &[3]),
        ("'", &[3]),
        ("\"H", &[3]),
        ("ᏣᎳᎩ", &[4]),
        ("two spaces", &[]),
        ("TWO  SPACES", &[5]),
        ("mer_sale-", &[5]),
        ("über/?q=%c3", &[6]),
        ("EXAMPLE.ORG", &[6]),
        ("lostslug", &[7]),
        ("lost", &[7, 8]),
        ("needle", &[]),
        ("plains7", &[]),
        ("plainhttps", &[]),
        (&longest, &[11]),
        ("ssss", &[11]),
    ] {
        let search = Some(SearchText::parse(text).unwrap());
        let filter = LinkFilter { search, ..LinkFilter::default() };
        let mut found = shown(&store, account, &filter, 3).await;
        found.reverse();
        let expected: Vec<Redirect> = expected.iter().map(|position| links[*position].clone()).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// What a search and the other filters look at is what is stored now.
pub(super) async fn filters_see_the_latest_state(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = given::group(&store, account).await.id;
    let mut link = given::redirect(&store, account, samples::redirect("before")).await;
    given::redirect(&store, account, samples::redirect("bystander")).await;
    link.name = samples::name("After");
    link.placement = samples::on_custom("a.example.net", None);
    link.target_url = samples::target("https://example.org/changed");
    link.group_id = Some(group);
    link.is_active = false;
    given::update_redirect(&store, account, &link).await.unwrap();
    let search =
        |text| LinkFilter { search: Some(SearchText::parse(text).unwrap()), ..LinkFilter::default() };
    for filter in [
        search("AFTER"),
        search("changed"),
        LinkFilter { group: GroupFilter::In(group), ..LinkFilter::default() },
        LinkFilter { is_active: Some(false), ..LinkFilter::default() },
        LinkFilter { site: Some(Site::Custom(samples::hostname("a.example.net"))), ..LinkFilter::default() },
    ] {
        assert_eq!(shown(&store, account, &filter, 100).await, [link.clone()], "{filter:?}");
    }
    assert_eq!(shown(&store, account, &search("before"), 100).await, []);
}
