//! Recent clicks (D66).

use signpost_domain::LinkId;
use signpost_domain::analytics::{RecentClicks, RecordedKind};

use super::fixture::Fresh;
use super::given::{self, Click, append, instant, links};
use crate::pseudorandom::Pseudorandom;

const DAYS: u64 = 12;

fn expected(clicks: &[Click], account: signpost_domain::AccountId, links: &[LinkId]) -> Vec<RecentClicks> {
    let since = instant(5, 3_600_000);
    let of_link = |link: LinkId| {
        let of_link = clicks.iter().filter(move |click| click.account == account && click.link == link);
        of_link.filter(|click| click.kind == RecordedKind::Click).map(|click| click.at)
    };
    links
        .iter()
        .map(|link| RecentClicks {
            link: *link,
            clicks: u64::try_from(of_link(*link).filter(|at| *at >= since).count()).unwrap(),
            last: of_link(*link).max(),
        })
        .collect()
}

pub(super) async fn d66_recent_clicks_are_counted_for_each_link(fresh: Fresh) {
    let store = fresh.store().await;
    let mut random = Pseudorandom::new(21);
    let owners = [(given::account(), links(100)), (given::account(), links(3))];
    let clicks = given::random_clicks(&mut random, 1_500, &owners, DAYS);
    append(store.as_ref(), 1, &clicks, 200).await;
    for step in 0..4 {
        match step {
            0 => {}
            1 => drop(given::pack_all(store.as_ref()).await),
            2 => given::digest_all(store.as_ref()).await,
            _ => given::seal_all(store.as_ref()).await,
        }
        for (account, links) in &owners {
            let mut asked = links.clone();
            // One link that was never clicked, and one of another account.
            asked.extend(given::links(1));
            asked.truncate(100);
            asked.reverse();
            let recent = store.recent_clicks(*account, &asked, instant(5, 3_600_000)).await.unwrap();
            assert_eq!(recent, expected(&clicks, *account, &asked), "step {step}");
        }
    }
}

pub(super) async fn d66_sealing_keeps_the_last_click(fresh: Fresh) {
    let store = fresh.store().await;
    let (account, links) = (given::account(), links(3));
    let clicks = [
        given::click(account, links[0], instant(0, 5), 1),
        given::click(account, links[1], instant(1, 7), 1),
        given::click(account, links[0], instant(1, 6), 1),
    ];
    append(store.as_ref(), 1, &clicks, 2).await;
    given::pack_all(store.as_ref()).await;
    given::digest_all(store.as_ref()).await;
    given::seal_all(store.as_ref()).await;
    // A late click, first without and then in a digest, is older than the known last click.
    append(store.as_ref(), 2, &[given::click(account, links[0], instant(0, 9), 1)], 1).await;
    for summed_up in [false, true] {
        let recent = store.recent_clicks(account, &links, instant(5, 3_600_000)).await.unwrap();
        let last: Vec<_> = recent.iter().map(|entry| (entry.clicks, entry.last)).collect();
        assert_eq!(last, [(0, Some(instant(1, 6))), (0, Some(instant(1, 7))), (0, None)], "{summed_up}");
        given::pack_all(store.as_ref()).await;
        given::digest_all(store.as_ref()).await;
    }
}
