//! Answers to questions, and exports page by page.

use proptest::prelude::*;
use signpost_domain::analytics::{ClickSelection, ExportedClick, LinkScope, Period};

use crate::generated::{account, day, instants, link, questions, rows, selections, storages};
use crate::model;
use crate::storage::{Storage, Use};

fn pages(
    storage: &Storage,
    selection: &ClickSelection,
    at_most: usize,
    in_parts: bool,
) -> Vec<ExportedClick> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let page = storage.clicks(selection, after, at_most, in_parts);
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
        for in_parts in [false, true] {
            prop_assert_eq!(&pages(&storage, &selection, at_most, in_parts), &expected);
        }
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
        let before = storage.clicks(&selection, None, 1_000, false);
        prop_assert_eq!(before.len(), model::exported(&rows, &selection).len());
        storage.pack(false);
        prop_assert_eq!(&storage.clicks(&selection, None, 1_000, false), &before);
        for number in -1..4 {
            storage.seal(account(0), day(number));
        }
        prop_assert_eq!(&storage.clicks(&selection, None, 1_000, false), &before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn d46_any_question_on_any_storage_agrees_with_brute_force(
        storage in storages(),
        questions in prop::collection::vec(questions(), 6),
    ) {
        for question in questions {
            let expected = model::answer(&storage.rows(), &question);
            for using in [
                Use::Segments,
                Use::SegmentsInPasses,
                Use::SegmentsInParts,
                Use::SegmentsInPassesAndParts,
                Use::Digests,
            ] {
                let (answer, _) = storage.answer(&question, using);
                prop_assert_eq!(&answer, &expected, "using {:?} for {:?}", using, question);
            }
        }
    }

    #[test]
    fn d66_recent_clicks_agree_with_brute_force(storage in storages(), since in instants()) {
        let links: Vec<_> = [3, 0, 5, 3, 1].map(link).to_vec();
        for of in 0..2 {
            let expected = model::recent(&storage.rows(), account(of), &links, since);
            prop_assert_eq!(storage.recent(account(of), &links, since), expected);
        }
    }
}
