//! Exports, page by page.

use proptest::prelude::*;
use signpost_domain::analytics::{ClickSelection, ExportedClick, LinkScope, Period};

use crate::generated::{account, day, rows, selections, storages};
use crate::model;
use crate::storage::Storage;

fn pages(storage: &Storage, selection: &ClickSelection, at_most: usize) -> Vec<ExportedClick> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let page = storage.clicks(selection, after, at_most);
        let length = page.len();
        all.extend(page);
        if length < at_most {
            return all;
        }
        after = all.last().map(|click: &ExportedClick| click.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn d66_pages_joined_are_the_selected_rows_in_order(
        storage in storages(),
        selection in selections(),
        at_most in 1..9_usize,
    ) {
        let expected = model::exported(&storage.rows(), &selection);
        prop_assert_eq!(pages(&storage, &selection, at_most), expected);
    }

    #[test]
    fn d66_ids_stay_the_same_while_packing_and_sealing(rows in rows(120), batch in 1..30_usize) {
        let selection = ClickSelection {
            account: account(0),
            scope: LinkScope::All,
            period: Period::new(day(-1).first(), day(4).last()).unwrap(),
            filters: Vec::new(),
        };
        let mut storage = Storage::default();
        for rows in rows.chunks(batch) {
            storage.append(rows);
        }
        let before = storage.clicks(&selection, None, 1_000);
        prop_assert_eq!(before.len(), model::exported(&rows, &selection).len());
        storage.pack(false);
        prop_assert_eq!(&storage.clicks(&selection, None, 1_000), &before);
        for number in -1..4 {
            storage.seal(account(0), day(number));
        }
        prop_assert_eq!(&storage.clicks(&selection, None, 1_000), &before);
    }
}
