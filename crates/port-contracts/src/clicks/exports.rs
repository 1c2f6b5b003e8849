//! Single clicks in the order of their ids (D66).

use signpost_domain::analytics::{ClickSelection, ExportedClick};

use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, append, deadline, everything, links};
use super::model::{export, random_selection};
use crate::pseudorandom::Pseudorandom;

const DAYS: u64 = 4;

struct Given {
    store: StoreUnderTest,
    random: Pseudorandom,
    selections: Vec<ClickSelection>,
    clicks: Vec<given::Click>,
}

async fn given(fresh: &Fresh, seed: u64) -> Given {
    let store = fresh.store().await;
    let mut random = Pseudorandom::new(seed);
    let owners = [(given::account(), links(6)), (given::account(), links(2))];
    let mut clicks = given::random_clicks(&mut random, 1_200, &owners, DAYS);
    // Some clicks share millisecond and link, and some are equal.
    let twins: Vec<given::Click> = clicks.iter().step_by(9).cloned().collect();
    for (number, mut twin) in twins.into_iter().enumerate() {
        if number % 2 == 0 {
            "XX".clone_into(&mut twin.values[1]);
        }
        clicks.push(twin);
    }
    append(store.as_ref(), 1, &clicks, 130).await;
    let mut selections = vec![everything(owners[0].0), everything(owners[1].0)];
    for _ in 0..12 {
        let (account, links) = random.pick(&owners).unwrap().clone();
        selections.push(random_selection(&mut random, account, &links, DAYS));
    }
    Given { store, random, selections, clicks }
}

async fn all(store: &StoreUnderTest, selection: &ClickSelection, page: usize) -> Vec<ExportedClick> {
    let mut clicks: Vec<ExportedClick> = Vec::new();
    loop {
        let after = clicks.last().map(|click| click.id);
        let some = store.clicks(selection, after, page, deadline()).await.unwrap();
        let is_last = some.len() < page;
        clicks.extend(some);
        if is_last {
            return clicks;
        }
    }
}

pub(super) async fn d66_clicks_come_in_the_order_of_their_ids(fresh: Fresh) {
    let given = given(&fresh, 11).await;
    for selection in &given.selections {
        let clicks = all(&given.store, selection, 10_000).await;
        assert!(clicks.is_sorted_by(|one, next| one.id < next.id));
        assert_eq!(clicks, export(&given.clicks, selection), "{selection:?}");
    }
}

pub(super) async fn d66_an_export_resumes_after_any_click(fresh: Fresh) {
    let mut given = given(&fresh, 12).await;
    given::pack_all(given.store.as_ref()).await;
    for selection in &given.selections {
        let whole = export(&given.clicks, selection);
        for page in [1 + usize::try_from(given.random.below(5)).unwrap() * 31, 500] {
            assert_eq!(all(&given.store, selection, page).await, whole, "{page} {selection:?}");
        }
    }
}

pub(super) async fn d66_upkeep_changes_no_export(fresh: Fresh) {
    let given = given(&fresh, 13).await;
    for step in 0..3 {
        match step {
            0 => drop(given::pack_all(given.store.as_ref()).await),
            1 => given::digest_all(given.store.as_ref()).await,
            _ => given::seal_all(given.store.as_ref()).await,
        }
        for selection in &given.selections {
            assert_eq!(all(&given.store, selection, 200).await, export(&given.clicks, selection));
        }
    }
}
