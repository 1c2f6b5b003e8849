//! The search of the link lists (D32), as a function that SQLite calls for each row of a range.
//!
//! SQLite ignores case in ASCII only. This function runs the domain's rule, so that every store finds the same links.

use std::sync::Arc;

use diesel::prelude::*;
use diesel::serialize::{Output, Result, ToSql};
use diesel::sql_types::{Binary, Bool, Nullable, SmallInt, Text};
use diesel::sqlite::Sqlite;
use signpost_domain::search_text::matches_folded;

use crate::deadline::Deadline;
use crate::search_index;
use crate::search_order;

#[diesel::declare_sql_function]
extern "SQL" {
    /// Whether one of the fields contains `folded`, a search text in folded form.
    fn link_matches(folded: Text, name: Text, slug: Text, target_url: Nullable<Text>) -> Bool;

    /// The text of a link in the text index.
    fn link_text(account: Binary, kind: SmallInt, name: Text, slug: Text, target_url: Nullable<Text>)
    -> Text;

    /// The creation time of an id, in milliseconds since 1970.
    fn link_time(id: Binary) -> BigInt;

    /// Always true until the caller's deadline; then the statement fails.
    fn in_time() -> Bool;
}

/// The result of the function. A search with few matches reads an account's whole list, so it may take long. It stops when
/// its caller is gone.
#[derive(Debug)]
enum Answer {
    Matches(bool),
    OutOfTime,
}

impl ToSql<Bool, Sqlite> for Answer {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> Result {
        match self {
            Self::Matches(matches) => <bool as ToSql<Bool, Sqlite>>::to_sql(matches, out),
            Self::OutOfTime => Err("the search exceeded its time limit".into()),
        }
    }
}

/// Registers the functions with a connection.
pub(crate) fn register(connection: &mut SqliteConnection, deadline: Arc<Deadline>) -> QueryResult<()> {
    link_text_utils::register_impl(
        connection,
        |account: Vec<u8>, kind: i16, name: String, slug: String, target_url: Option<String>| {
            search_index::text_of(&account, kind, &name, &slug, target_url.as_deref())
        },
    )?;
    link_time_utils::register_impl(connection, |id: Vec<u8>| search_order::time_of(&id))?;
    let same = Arc::clone(&deadline);
    // Otherwise SQLite would call it once for all rows.
    in_time_utils::register_nondeterministic_impl(connection, move || {
        if same.has_passed() { Answer::OutOfTime } else { Answer::Matches(true) }
    })?;
    link_matches_utils::register_impl(
        connection,
        move |folded: String, name: String, slug: String, target_url: Option<String>| {
            if deadline.has_passed() {
                return Answer::OutOfTime;
            }
            Answer::Matches(matches_folded(&folded, &name, Some(&slug), target_url.as_deref()))
        },
    )
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use diesel::prelude::*;
    use signpost_domain::SearchText;

    use super::*;

    fn connection() -> (SqliteConnection, Arc<Deadline>) {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        let deadline = Arc::new(Deadline::none());
        register(&mut connection, Arc::clone(&deadline)).unwrap();
        (connection, deadline)
    }

    /// D32: every store finds the same links as the domain's rule.
    #[test]
    fn d32_function_matches_as_the_domain_does() {
        let (mut connection, _) = connection();
        let texts = [
            "a", "STRASSE", "Straße", "ß", "ΟΔΟΣ", "οδος", "ς", "ﬃ", "office", "\u{212a}", "K", "é", "e",
            "%", "_",
        ];
        for search in texts {
            let search = SearchText::parse(search).unwrap();
            for name in texts {
                for (slug, target) in [
                    ("", Some("https://x.example/")),
                    ("Sale", Some("https://X.example/ß")),
                    ("K", Some("")),
                    ("", None),
                    ("Sale", None),
                ] {
                    let found: bool = diesel::select(link_matches(search.folded(), name, slug, target))
                        .get_result(&mut connection)
                        .unwrap();
                    let slug = Some(slug).filter(|slug| !slug.is_empty());
                    assert_eq!(
                        found,
                        search.matches(name, slug, target),
                        "{search:?} in {name} {slug:?} {target:?}"
                    );
                }
            }
        }
    }

    /// D6: no call hangs, and abandoned work stops.
    #[test]
    fn d6_search_stops_at_its_deadline() {
        let (mut connection, deadline) = connection();
        deadline.set(Instant::now());
        std::thread::sleep(std::time::Duration::from_millis(3));
        let outcome =
            diesel::select(link_matches("a", "a", "a", None::<&str>)).get_result::<bool>(&mut connection);
        assert!(outcome.unwrap_err().to_string().contains("exceeded its time limit"));
    }
}
