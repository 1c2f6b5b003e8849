//! The reads of pixels that other resources lack.

use signpost_app::ports::PixelReads;
use signpost_domain::{Id, PixelId};

use super::{Subject, recorder, resources};

/// How many pixels a batch of links can name.
const MOST_NAMED: u32 = 1_000;

/// A pixel of the first account, for odd numbers.
pub(crate) fn id(number: u32) -> PixelId {
    Id::from_bytes(resources::bytes(number))
}

/// Named pixels are found by id, with one statement.
pub(crate) async fn are_found_by_their_ids(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    for number in [1, 2, MOST_NAMED] {
        let ids: Vec<PixelId> = (1..=number).map(|number| id(number * 2 - 1)).collect();
        let plans = subject
            .plans(async {
                let (statements, found) = recorder::recorded(store.pixels_with_ids(*account, &ids)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(found.unwrap().len(), ids.len());
            })
            .await;
        assert!(!plans.contains("Seq Scan on pixels"), "{number}: {plans}");
    }
}
