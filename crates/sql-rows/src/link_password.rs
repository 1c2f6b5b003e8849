//! Rows of `link_passwords`: the hashes of the passwords of links, and which links have one (D131).

use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::Bool;
use diesel::sqlite::Sqlite;
use signpost_domain::{Behaviour, LinkId, PasswordHash};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::IdBytes;
use crate::schema::links;

/// The table, as the migrations of both databases leave it.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        link_passwords (link_id) {
            link_id -> Identifier,
            hash -> Text,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "link_passwords";

/// The hash of a link's password, from the link's column `behaviour` and the row of its hash. `None` if the link has no password.
pub fn password_hash_from(
    id: LinkId,
    behaviour: Option<String>,
    hash: Option<String>,
) -> Result<Option<PasswordHash>, Corrupt> {
    let row = RowName::new("links", id);
    let behaviour = behaviour.map(|json| row.cell("behaviour", Behaviour::from_json(&json))).transpose()?;
    if !behaviour.is_some_and(|behaviour| behaviour.has_password) {
        return Ok(None);
    }
    let Some(hash) = hash else {
        return Err(row.corrupt("behaviour", "says that the link has a password, whose hash is missing"));
    };
    RowName::new(TABLE, id).cell("hash", PasswordHash::from_stored(hash)).map(Some)
}

/// The hashes to write, and the links whose hashes go.
#[must_use]
pub fn written_and_removed(
    passwords: &[(LinkId, Option<PasswordHash>)],
) -> (Vec<(IdBytes, String)>, Vec<IdBytes>) {
    let (mut written, mut removed) = (Vec::new(), Vec::new());
    for (link, hash) in passwords {
        match hash {
            Some(hash) => written.push(((*link).into(), hash.as_str().to_owned())),
            None => removed.push((*link).into()),
        }
    }
    (written, removed)
}

/// Whether the row of `links` has a password, in the words of the index of the migrations, so that it serves.
///
/// The text is looked for in the JSON as it is written. No value can contain it: within a text, JSON has a backslash before each of
/// these quotation marks.
#[derive(Debug, Clone, Copy, Default, QueryId)]
pub struct WithPassword;

/// Whether the row of `links` has none. No index has these rows.
#[derive(Debug, Clone, Copy, Default, QueryId)]
pub struct WithoutPassword;

/// The operand of both conditions.
const PLACE_OF_FLAG: [&str; 2] =
    ["strpos(links.behaviour, '\"has_password\":true')", "instr(links.behaviour, '\"has_password\":true')"];

macro_rules! conditions {
    ($($name:ident => $before:literal, $after:literal;)*) => {$(
        impl Expression for $name {
            type SqlType = Bool;
        }

        impl ValidGrouping<()> for $name {
            type IsAggregate = is_aggregate::No;
        }

        impl AppearsOnTable<links::table> for $name {}

        impl QueryFragment<Pg> for $name {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
                let [place, _] = PLACE_OF_FLAG;
                out.push_sql($before);
                out.push_sql(place);
                out.push_sql($after);
                Ok(())
            }
        }

        impl QueryFragment<Sqlite> for $name {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
                let [_, place] = PLACE_OF_FLAG;
                out.push_sql($before);
                out.push_sql(place);
                out.push_sql($after);
                Ok(())
            }
        }
    )*};
}

conditions! {
    WithPassword => "", " > 0";
    WithoutPassword => "coalesce(", ", 0) = 0";
}

#[cfg(test)]
mod tests {
    use signpost_domain::{Description, LinkPreview, PreviewTitle, Rules, TargetUrl, Utm, UtmValue, Way};
    use signpost_port_contracts::samples;

    use super::*;

    fn has_flag(json: Option<&str>) -> bool {
        json.is_some_and(|json| json.contains("\"has_password\":true"))
    }

    #[test]
    fn d126_the_stored_text_has_the_flag_exactly_if_the_link_has_a_password() {
        let hostile = "\"has_password\":true";
        let utm = Utm::new(|_| UtmValue::parse(hostile).ok());
        let fallback_url = TargetUrl::parse(&format!("https://example.com/?{hostile}")).ok();
        let condition = r#"{"type":"query","name":"\"has_password\":true","is":"equals","value":"\"has_password\":true"}"#;
        let hostile_rules = samples::rules(&format!(
            r#"[{{"conditions":[{condition}],"target_url":"https://example.com/"}}]"#
        ));
        let hostile_preview = PreviewTitle::parse(hostile)
            .map(|title| LinkPreview::new(title, Description::parse(hostile).ok(), None));
        for has_password in [false, true] {
            for (way, fallback_url, rules, preview) in [
                (Way::default(), None, Rules::default(), None),
                (
                    Way { forward_query: true, utm: utm.clone(), ..Way::default() },
                    fallback_url.clone(),
                    hostile_rules.clone(),
                    hostile_preview.clone().ok(),
                ),
            ] {
                let behaviour =
                    Behaviour { fallback_url, way, is_limited: true, has_password, rules, preview };
                assert_eq!(has_flag(behaviour.to_json().as_deref()), has_password, "{behaviour:?}");
            }
        }
        assert!(!has_flag(Behaviour::default().to_json().as_deref()));
    }

    #[test]
    fn d131_a_link_with_a_password_has_a_hash_or_is_corrupt() {
        let id = LinkId::from(samples::redirect("link").id);
        let closed = || Some(r#"{"has_password":true}"#.to_owned());
        let read = |behaviour, hash: Option<&str>| password_hash_from(id, behaviour, hash.map(str::to_owned));
        let hash = read(closed(), Some("$argon2id$x")).unwrap();
        assert_eq!(hash.as_ref().map(PasswordHash::as_str), Some("$argon2id$x"));
        assert_eq!(read(closed(), None).unwrap_err().column, "behaviour");
        assert_eq!(read(closed(), Some("")).unwrap_err().column, "hash");
        // What is left over opens nothing and closes nothing.
        assert_eq!(read(None, Some("$argon2id$x")).unwrap(), None);
        assert_eq!(read(Some(r#"{"is_limited":true}"#.to_owned()), Some("x")).unwrap(), None);
        assert_eq!(read(Some("rubbish".to_owned()), None).unwrap_err().column, "behaviour");
    }
}
