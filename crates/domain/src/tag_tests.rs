//! Names of tags, and the tags of a link (D122).

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn name(text: &str) -> TagName {
    TagName::parse(text).unwrap()
}

fn tags(names: &[&str]) -> Tags {
    Tags::new(names.iter().map(|text| name(text))).unwrap()
}

fn spellings(tags: &Tags) -> Vec<&str> {
    tags.iter().map(TagName::as_str).collect()
}

#[test]
fn d122_a_name_has_1_to_50_characters_without_controls_and_commas() {
    let fifty = "🦀".repeat(50);
    for (text, expected) in [("a", "a"), (" \u{3000}Ä ö;|#%/\n", "Ä ö;|#%/"), (&fifty, &fifty)] {
        assert_eq!(name(text).as_str(), expected);
    }
    let code = |text: &str| TagName::parse(text).unwrap_err().code();
    for text in ["", " ", "\t\r\n", "\u{2003}"] {
        assert_eq!(code(text), ViolationCode::TooShort, "{text:?}");
    }
    assert_eq!(code(&"🦀".repeat(51)), ViolationCode::TooLong);
    for text in ["a,b", ",", "a\0b", "a\nb", "a\u{7f}", "a\u{9b}b"] {
        assert_eq!(code(text), ViolationCode::InvalidFormat, "{text:?}");
    }
}

#[test]
fn d122_names_that_differ_in_case_have_one_key() {
    for (one, other) in
        [("Sale", "sALE"), ("ÄÖÜ", "äöü"), ("ΟΔΟΣ", "οδος"), ("🌷 Mai", "🌷 mai"), ("Straße", "STRASSE")]
    {
        assert_eq!(name(one).key(), name(other).key());
        assert_ne!(name(one), name(other));
    }
    assert_ne!(name("café").key(), name("cafe").key());
}

/// Keyboards and file systems write them in either way, and nobody sees which.
#[test]
fn d122_composed_and_decomposed_letters_are_the_same() {
    assert_eq!(name("Cafe\u{301}"), name("Café"));
    assert_eq!(name(&"e\u{301}".repeat(50)).as_str().chars().count(), 50);
}

#[test]
fn d122_a_link_has_at_most_20_tags_and_repeated_names_count_once() {
    let names = |count: usize| (0..count).map(|number| name(&number.to_string()));
    assert_eq!(Tags::new(names(20).chain(names(20))).unwrap().len(), Tags::MAX);
    assert_eq!(Tags::new(names(21)).unwrap_err().code(), ViolationCode::TooManyItems);
    let tags = tags(&["b", "Sale", "a", "SALE", "B"]);
    assert_eq!(spellings(&tags), ["a", "b", "Sale"]);
    assert!(tags.contains(&name("sale")) && !tags.contains(&name("c")));
}

#[test]
fn d122_tags_are_compared_by_keys_and_shown_as_the_account_spells_them() {
    let given = tags(&["sale", "new", "B"]);
    assert!(given.same_as(&tags(&["b", "NEW", "Sale"])));
    assert!(!given.same_as(&tags(&["b", "new"])));
    let known = ["Sale", "NEW", "Other"].map(name);
    assert_eq!(spellings(&given.spelt_as(&known)), ["NEW", "Sale"]);
}

#[test]
fn d122_a_renamed_merged_or_deleted_tag_changes_the_tags_of_its_links() {
    let given = tags(&["a", "b", "c"]);
    assert_eq!(spellings(&given.replaced(&name("B"), Some(&name("Z")))), ["a", "c", "Z"]);
    assert_eq!(spellings(&given.replaced(&name("b"), Some(&name("c")))), ["a", "c"]);
    assert_eq!(spellings(&given.replaced(&name("b"), Some(&name("B")))), ["a", "B", "c"]);
    assert_eq!(spellings(&given.replaced(&name("b"), None)), ["a", "c"]);
    assert_eq!(given.replaced(&name("x"), Some(&name("y"))), given);
}

#[test]
fn d122_stored_tags_are_read_even_beyond_the_current_rule() {
    let many: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    assert_eq!(Tags::from_stored(many.join(",")).unwrap().len(), 30);
    for malformed in ["", "a,,b", "a\nb"] {
        assert!(Tags::from_stored(malformed.to_owned()).is_err(), "{malformed:?}");
    }
}

proptest! {
    #[test]
    fn d122_what_a_request_may_have_reads_back_from_a_store(texts in vec("\\PC{1,8}", 1..20)) {
        let names: Vec<TagName> = texts.iter().filter_map(|text| TagName::parse(text).ok()).collect();
        prop_assume!(!names.is_empty());
        for name in &names {
            prop_assert_eq!(&TagName::from_stored(name.as_str().to_owned()).unwrap(), name);
        }
        let tags = Tags::new(names.clone()).unwrap();
        let joined = spellings(&tags).join(",");
        prop_assert_eq!(Tags::from_stored(joined).unwrap(), tags.clone());
        let reversed = Tags::new(names.into_iter().rev()).unwrap();
        prop_assert!(tags.same_as(&reversed));
    }
}

fn change(added: &[&str], removed: &[&str]) -> TagChange {
    TagChange::new(tags(added), tags(removed)).unwrap()
}

#[test]
fn d124_tags_are_added_and_taken_off_without_regard_to_case() {
    let before = tags(&["Mail", "Sale"]);
    for (added, removed, expected) in [
        (&[][..], &[][..], &["Mail", "Sale"][..]),
        (&["new", "MAIL"], &[], &["Mail", "new", "Sale"]),
        (&[], &["sale", "x"], &["Mail"]),
        (&["new"], &["MAIL", "SALE"], &["new"]),
    ] {
        let after = before.changed(&change(added, removed)).unwrap();
        assert_eq!(spellings(&after), expected, "{added:?} {removed:?}");
    }
}

#[test]
fn d124_a_tag_is_not_both_added_and_taken_off() {
    let error = TagChange::new(tags(&["a", "Sale"]), tags(&["SALE"])).unwrap_err();
    assert_eq!(error.code(), ViolationCode::InvalidValue);
}

#[test]
fn d124_tags_beyond_20_are_refused_unless_the_link_had_as_many() {
    let numbers = |count: usize| (0..count).map(|number| name(&number.to_string()));
    let twenty = Tags::new(numbers(20)).unwrap();
    assert_eq!(twenty.changed(&change(&["x"], &[])).unwrap_err().code(), ViolationCode::TooManyItems);
    assert_eq!(twenty.changed(&change(&["x"], &["0"])).unwrap().len(), 20);
    let stored: Vec<String> = (0..22).map(|number| number.to_string()).collect();
    let stored = Tags::from_stored(stored.join(",")).unwrap();
    assert_eq!(stored.changed(&change(&[], &["0"])).unwrap().len(), 21);
    assert_eq!(stored.changed(&change(&["x"], &["0"])).unwrap().len(), 22);
    assert!(stored.changed(&change(&["x"], &[])).is_err());
}

proptest! {
    #[test]
    fn d124_changing_tags_twice_is_changing_them_once(
        before in vec("[a-dA-D]", 0..5),
        added in vec("[a-fA-F]", 0..4),
        removed in vec("[a-fA-F]", 0..4),
    ) {
        let tags = |texts: &[String]| Tags::new(texts.iter().map(|text| name(text))).unwrap();
        let before = tags(&before);
        if let Ok(change) = TagChange::new(tags(&added), tags(&removed)) {
            let once = before.changed(&change).unwrap();
            prop_assert_eq!(once.changed(&change), Ok(once.clone()));
            prop_assert!(change.added.iter().all(|name| once.contains(name)));
            prop_assert!(!change.removed.iter().any(|name| once.contains(name)));
        }
    }
}
