//! Counts and lists in sentences.

/// A count and what is counted, in the singular or the plural: `1 row`, `2 rows`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The items as one enumerates them: `a`, `a and b`, `a, b and c`.
pub(super) fn enumerated(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_all_else_plural() {
        let told = [0, 1, 2, 21].map(|count| counted(count, "row"));
        assert_eq!(told, ["0 rows", "1 row", "2 rows", "21 rows"]);
    }

    #[test]
    fn the_last_of_several_items_comes_after_and() {
        let items = ["a", "b", "c"].map(str::to_owned);
        let told: Vec<_> = (0..=3).map(|count| enumerated(&items[..count])).collect();
        assert_eq!(told, ["", "a", "a and b", "a, b and c"]);
    }
}
