//! Answers to questions.

use proptest::prelude::*;

use crate::generated::{account, instants, link, questions, storages};
use crate::model;
use crate::storage::Use;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn d46_any_question_on_any_storage_agrees_with_brute_force(
        storage in storages(),
        questions in prop::collection::vec(questions(), 6),
    ) {
        for question in questions {
            let expected = model::answer(&storage.rows(), &question);
            for using in [Use::Segments, Use::SegmentsInPasses, Use::Digests] {
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
