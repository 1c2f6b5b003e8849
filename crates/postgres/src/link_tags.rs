//! Which tags links have, as links are inserted and changed (D122).

use diesel::sql_types::{Array, Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::{AccountId, Link};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;

statement! {
    /// Gives tags to links, by the keys of the tags.
    InsertTagsOfLinks -> Bool {
        account: IdBytes => Identifier,
        keys: Vec<String> => Array<Text>,
        links: Vec<IdBytes> => Array<Identifier>,
    } =
    "INSERT INTO link_tags (tag_id, link_id) SELECT t.id, n.link_id FROM unnest($2, $3) AS n (name_key, link_id) JOIN \
     tags AS t ON t.account_id = $1 AND t.name_key = n.name_key COLLATE \"C\""
}

statement! {
    /// Gives links other tags in place of those that they have. `keys` has the keys of their new tags, and `links` the link of each.
    ReplaceTagsOfLinks -> Bool {
        account: IdBytes => Identifier,
        keys: Vec<String> => Array<Text>,
        links: Vec<IdBytes> => Array<Identifier>,
        retagged: Vec<IdBytes> => Array<Identifier>,
    } =
    "WITH given AS (SELECT t.id AS tag_id, n.link_id FROM unnest($2, $3) AS n (name_key, link_id) JOIN tags AS t ON \
     t.account_id = $1 AND t.name_key = n.name_key COLLATE \"C\"), taken AS (DELETE FROM link_tags AS x WHERE \
     x.link_id = ANY ($4) AND NOT EXISTS (SELECT 1 FROM given AS g WHERE (g.link_id, g.tag_id) = (x.link_id, \
     x.tag_id))) INSERT INTO link_tags (tag_id, link_id) SELECT g.tag_id, g.link_id FROM given AS g ON CONFLICT DO \
     NOTHING"
}

/// The keys of the tags of links, and the link of each.
fn keys_and_links<'a>(tagged: impl Iterator<Item = &'a Link>) -> (Vec<String>, Vec<IdBytes>) {
    let each = |link: &'a Link| {
        let id = IdBytes::from(link.id());
        link.tags.iter().map(move |name| (name.key().to_owned(), id))
    };
    tagged.flat_map(each).unzip()
}

/// Gives each of these links those of its tags that the account has. The links have no tags yet.
pub(crate) async fn write<'a>(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    tagged: impl Iterator<Item = &'a Link>,
) -> Result<(), Failure> {
    let (keys, links) = keys_and_links(tagged);
    if !keys.is_empty() {
        InsertTagsOfLinks { account: account.into(), keys, links }.execute(connection).await?;
    }
    Ok(())
}

/// Gives links the tags that they have after a change, in place of those before.
pub(crate) async fn rewrite(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    changes: &[(&Link, &Link)],
) -> Result<(), Failure> {
    let retagged = changes.iter().filter(|(before, after)| before.tags != after.tags);
    let retagged: Vec<&Link> = retagged.map(|(_, after)| *after).collect();
    if retagged.is_empty() {
        return Ok(());
    }
    let (keys, links) = keys_and_links(retagged.iter().copied());
    let retagged = retagged.iter().map(|link| IdBytes::from(link.id())).collect();
    ReplaceTagsOfLinks { account: account.into(), keys, links, retagged }.execute(connection).await?;
    Ok(())
}
