//! The strength of a password.

use zxcvbn::feedback::{Feedback, Suggestion, Warning};
use zxcvbn::{Score, zxcvbn};

/// Why a password is too easy to guess, as a sentence; `None` if it scores at least 3 of 4.
pub(crate) fn weakness(password: &str, known_words: &[&str]) -> Option<String> {
    let words: Vec<String> = known_words.iter().flat_map(|text| parts(text)).collect();
    let known: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut estimate = zxcvbn(password, &known);
    if estimate.score() >= Score::Three {
        // Each further known word counts as a guess at a new one, although a guesser who knows one knows all.
        let with_one = with_one_known_word(password, &words)?;
        estimate = zxcvbn(&with_one, &known);
        if estimate.score() >= Score::Three {
            return None;
        }
    }
    let feedback = estimate.feedback();
    let warning = feedback.and_then(Feedback::warning).map(sentence_of);
    let suggestions = feedback.map(Feedback::suggestions).unwrap_or_default();
    let advice = suggestions.iter().find_map(|suggestion| advice_of(*suggestion));
    let warning = warning.unwrap_or("It is too easy to guess.");
    Some(format!("{warning} {}", advice.unwrap_or("Add another word or two that do not belong together.")))
}

/// The shortest known word, in characters.
const SHORTEST: usize = 3;

/// A text in lower case and its words, so that `Ada.Lovelace@example.com` makes `lovelace` a known word, too. The last
/// label of an address is left out if it is short, because `com` is part of many other words.
fn parts(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let without_end = text.rsplit_once('.').filter(|(_, end)| text.contains('@') && end.len() <= SHORTEST);
    let named = without_end.map_or(&*text, |(named, _)| named);
    let words = named.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= SHORTEST);
    words.map(str::to_owned).chain([text.clone()]).collect()
}

/// The password with only one of its known words, which also count if they are reversed. `None` if it has none.
fn with_one_known_word(password: &str, known: &[String]) -> Option<String> {
    let mut words: Vec<Vec<char>> = known.iter().map(|word| word.chars().collect()).collect();
    words.retain(|word| word.len() >= SHORTEST);
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let mut rest: Vec<char> = password.chars().collect();
    let mut kept: Option<String> = None;
    for word in words {
        let reversed: Vec<char> = word.iter().rev().copied().collect();
        for form in [word, reversed] {
            while let Some(place) = rest.windows(form.len()).position(|part| is_in_any_case(part, &form)) {
                rest.drain(place..place.saturating_add(form.len()));
                kept.get_or_insert_with(|| form.iter().collect());
            }
        }
    }
    kept.map(|word| word + &String::from_iter(rest))
}

fn is_in_any_case(text: &[char], lower: &[char]) -> bool {
    text.iter().flat_map(|c| c.to_lowercase()).eq(lower.iter().copied())
}

const fn sentence_of(warning: Warning) -> &'static str {
    match warning {
        Warning::StraightRowsOfKeysAreEasyToGuess => "Rows of keys are easy to guess.",
        Warning::ShortKeyboardPatternsAreEasyToGuess => "Short keyboard patterns are easy to guess.",
        Warning::RepeatsLikeAaaAreEasyToGuess => "Repeated characters are easy to guess.",
        Warning::RepeatsLikeAbcAbcAreOnlySlightlyHarderToGuess => {
            "A repeated word is hardly harder to guess than the word."
        }
        Warning::ThisIsATop10Password | Warning::ThisIsATop100Password | Warning::ThisIsACommonPassword => {
            "This is a password that many people use."
        }
        Warning::ThisIsSimilarToACommonlyUsedPassword => "This is close to a password that many people use.",
        Warning::SequencesLikeAbcAreEasyToGuess => "Sequences such as abc or 6543 are easy to guess.",
        Warning::RecentYearsAreEasyToGuess => "Recent years are easy to guess.",
        Warning::AWordByItselfIsEasyToGuess => "A word by itself is easy to guess.",
        Warning::DatesAreOftenEasyToGuess => "Dates are easy to guess.",
        Warning::NamesAndSurnamesByThemselvesAreEasyToGuess
        | Warning::CommonNamesAndSurnamesAreEasyToGuess => "Names are easy to guess.",
    }
}

const fn advice_of(suggestion: Suggestion) -> Option<&'static str> {
    match suggestion {
        Suggestion::UseAFewWordsAvoidCommonPhrases | Suggestion::AddAnotherWordOrTwo => {
            Some("Use a few words that do not belong together.")
        }
        Suggestion::CapitalizationDoesntHelpVeryMuch
        | Suggestion::AllUppercaseIsAlmostAsEasyToGuessAsAllLowercase => {
            Some("Capital letters hardly help; another word does.")
        }
        Suggestion::ReversedWordsArentMuchHarderToGuess => {
            Some("Reversed words hardly help; another word does.")
        }
        Suggestion::PredictableSubstitutionsDontHelpVeryMuch => {
            Some("Substitutions such as @ for a hardly help; another word does.")
        }
        Suggestion::UseALongerKeyboardPatternWithMoreTurns
        | Suggestion::AvoidRepeatedWordsAndCharacters
        | Suggestion::AvoidSequences
        | Suggestion::AvoidRecentYears
        | Suggestion::AvoidYearsThatAreAssociatedWithYou
        | Suggestion::AvoidDatesAndYearsThatAreAssociatedWithYou
        | Suggestion::NoNeedForSymbolsDigitsOrUppercaseLetters => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d71_common_passwords_patterns_and_dates_are_too_weak() {
        for weak in ["password123", "qwertyuiop", "aaaaaaaaaaaa", "abcabcabcabc", "0123456789", "19.04.1987"]
        {
            let reason = weakness(weak, &[]).unwrap_or_else(|| panic!("{weak} is strong"));
            assert!(reason.ends_with('.') && !reason.contains(weak), "{reason}");
        }
    }

    #[test]
    fn d71_a_few_unrelated_words_are_strong() {
        for strong in
            ["plover egg tin", "correct horse battery staple", "vQ7#kd9!mZ2p", "смородина летит низко"]
        {
            assert_eq!(weakness(strong, &["ada@example.com", "Ada Lovelace"]), None, "{strong}");
        }
    }

    #[test]
    fn d71_the_persons_own_words_are_known() {
        let known = ["augusta.lovelace@analyticalengine.example", "Augusta Lovelace"];
        for own in [
            "augustalovelace",
            "analyticalengine",
            "augusta.lovelace",
            "Augusta-Lovelace",
            "AugustaLovelace1",
            "lovelace_analyticalengine",
            "ecalevol.atsugua",
            "Augusta-analyticalengine-example",
        ] {
            assert!(weakness(own, &known).is_some(), "{own}");
        }
        for strong in ["augusta plover egg tin", "vQ7#kd9!mZ2p Augusta"] {
            assert_eq!(weakness(strong, &known), None, "the rest of {strong} is enough");
        }
        assert!(weakness("ann-lee-abc-ann-lee", &["ann.lee@abc.com", "Ann Lee"]).is_some());
    }
}
