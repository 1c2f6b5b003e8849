//! The strength of a password.

use zxcvbn::feedback::{Feedback, Suggestion, Warning};
use zxcvbn::{Score, zxcvbn};

/// Why a password is too easy to guess, as a sentence; `None` if it scores at least 3 of 4.
pub(crate) fn weakness(password: &str, known_words: &[&str]) -> Option<String> {
    let words: Vec<&str> = known_words.iter().flat_map(|text| parts(text)).collect();
    let estimate = zxcvbn(password, &words);
    if estimate.score() >= Score::Three {
        return None;
    }
    let feedback = estimate.feedback();
    let warning = feedback.and_then(Feedback::warning).map(sentence_of);
    let suggestions = feedback.map(Feedback::suggestions).unwrap_or_default();
    let advice = suggestions.iter().find_map(|suggestion| advice_of(*suggestion));
    let warning = warning.unwrap_or("It is too easy to guess.");
    Some(format!("{warning} {}", advice.unwrap_or("Add another word or two that do not belong together.")))
}

/// A text and its words, so that `ada.lovelace@example.com` makes `lovelace` a known word, too.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 3);
    std::iter::once(text).chain(words)
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
        assert!(weakness("augustalovelace", &known).is_some());
        assert!(weakness("analyticalengine", &known).is_some());
    }
}
