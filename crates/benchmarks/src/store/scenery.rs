//! The accounts, and their links before the measurements.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::load::{Load, Numbers, Template, digits};
use super::stage::{Account, Stage};
use super::turns::Round;
use crate::turns::Until;

/// The first numbers of links that SQL seeds. They equal links from the API, except for their ids, which are the digits of
/// their numbers.
pub(super) const FIRST_UPDATED: u64 = 1_000_000_000;
const FIRST_OF_SMALL: u64 = 2_000_000_000;
const FIRST_OF_MIDDLE: u64 = 3_000_000_000;
/// The links of the small account.
pub(super) const LINKS_OF_SMALL: u64 = 1_000;
/// The largest number of links of the middle account, and of updated ones. A smaller large account limits them too.
const LINKS_OF_MIDDLE: u64 = 100_000;
const GROUPS: u64 = 25;
const GROUPS_OF_SMALL: u64 = 4_000_000_000;
const GROUPS_OF_MIDDLE: u64 = 5_000_000_000;
const GROUP_OF_STOCK: u64 = 6_000_000_000;

/// The accounts by purpose.
pub(super) struct Scenery {
    /// Is empty until it creates links.
    pub(super) writer: Account,
    /// Has as many links for updates as the middle one, and a group.
    pub(super) stock: Account,
    /// Has 1,000 links, and empty groups.
    pub(super) small: Account,
    /// Has up to 100,000 links, all of them in groups.
    pub(super) middle: Account,
    pub(super) links_of_middle: u64,
    /// Has the requested number of links.
    pub(super) large: Account,
    pub(super) links_of_large: u64,
    /// The round that created them.
    pub(super) creation: Round,
    /// The bytes of write-ahead log of their creation.
    pub(super) log_of_creation: String,
}

impl Scenery {
    pub(super) fn set_up(stage: &Stage, links: u32) -> Result<Self> {
        let large = stage.account("large")?;
        let position = stage.postgres.query("SELECT pg_current_wal_lsn()")?;
        let creation = create(stage, &large, links)?;
        let written = format!("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '{position}')");
        let log_of_creation = stage.postgres.query(&written)?;
        let links_of_large = count_links(stage, &large)?;
        let scenery = Self {
            writer: stage.account("writer")?,
            stock: stage.account("stock")?,
            small: stage.account("small")?,
            middle: stage.account("middle")?,
            links_of_middle: LINKS_OF_MIDDLE.min(links_of_large),
            large,
            links_of_large,
            creation,
            log_of_creation,
        };
        let Self { stock, small, middle, links_of_middle, .. } = &scenery;
        groups(stage, stock, GROUP_OF_STOCK, 1)?;
        groups(stage, small, GROUPS_OF_SMALL, GROUPS)?;
        groups(stage, middle, GROUPS_OF_MIDDLE, GROUPS)?;
        seed(stage, stock, scenery.updated_links(), None)?;
        seed(stage, small, (FIRST_OF_SMALL, LINKS_OF_SMALL), None)?;
        seed(stage, middle, (FIRST_OF_MIDDLE, *links_of_middle), Some((GROUPS_OF_MIDDLE, GROUPS)))?;
        stage.postgres.query("VACUUM (ANALYZE); CHECKPOINT;")?;
        Ok(scenery)
    }

    /// The first number of the links for updates, and their count.
    pub(super) const fn updated_links(&self) -> (u64, u64) {
        (FIRST_UPDATED, self.links_of_middle)
    }

    /// Adds links with numbers from `first` to the group of the stock account.
    pub(super) fn put_in_stock(&self, stage: &Stage, first: u64, count: u64) -> Result<()> {
        seed(stage, &self.stock, (first, count), Some((GROUP_OF_STOCK, 1)))
    }

    /// The path of the stock's group.
    pub(super) fn group_of_stock() -> String {
        format!("/v1/groups/grp_{}", digits(GROUP_OF_STOCK))
    }
}

/// An SQL expression for the id of a number.
pub(super) fn id_of(number: &str) -> String {
    format!("lpad(({number})::text, 32, '0')::uuid")
}

/// An SQL expression for the slug of a number, as random as the program's slugs.
pub(super) fn slug_of(number: &str) -> String {
    format!("substr(md5(({number})::text), 1, 12)")
}

/// An id in the format of PostgreSQL.
pub(super) fn uuid(digits: &str) -> String {
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

/// The body of a request that creates a link.
pub(super) const LINK: &str = r#"{"name":"A link of the summer campaign","target_url":"https://example.com/shop/summer/offers?utm_source=newsletter"}"#;

/// The body of a request that creates 100 links. The first objects start with `beginnings`.
pub(super) fn batch(beginnings: &[String]) -> String {
    let link = LINK.trim_start_matches('{');
    let links: Vec<String> = (0..100)
        .map(|index| format!("{{{}{link}", beginnings.get(index).map_or("", String::as_str)))
        .collect();
    format!(r#"{{"redirects":[{}]}}"#, links.join(","))
}

fn create(stage: &Stage, account: &Account, links: u32) -> Result<Round> {
    let caller = stage.caller(account);
    let until = Until::Requests(links / 100);
    let load = Load { caller: &caller, connections: 8, until, numbers: Numbers::None };
    stage.load(&stage.program, &load, || {
        Template::new(&caller, "POST", "/v1/redirects/bulk", &batch(&[])).with_failures(r#""failed_count":0"#)
    })
}

fn count_links(stage: &Stage, account: &Account) -> Result<u64> {
    let count =
        stage.postgres.query(&format!("SELECT links_count FROM accounts WHERE id = '{}'", account.id))?;
    count.parse().context("no count of links")
}

fn groups(stage: &Stage, account: &Account, first: u64, count: u64) -> Result<()> {
    let (account, id, last) = (&account.id, id_of("n"), first + count - 1);
    stage.postgres.query(&format!(
        "INSERT INTO groups (account_id, id, name, created_at, updated_at)
             SELECT '{account}', {id}, 'Group ' || n, now(), now() FROM generate_series({first}, {last}) AS n;
         UPDATE accounts SET groups_count = groups_count + {count} WHERE id = '{account}';"
    ))?;
    Ok(())
}

/// Inserts links, distributed over groups if any are given.
fn seed(stage: &Stage, account: &Account, links: (u64, u64), groups: Option<(u64, u64)>) -> Result<()> {
    let (account, id, (first, count)) = (&account.id, id_of("n"), links);
    let last = first + count - 1;
    let group = groups.map_or("NULL".to_owned(), |(first, count)| id_of(&format!("{first} + n % {count}")));
    stage.postgres.query(&format!(
        "BEGIN;
         INSERT INTO links ({COLUMNS})
             SELECT {id}, '{account}', {values}, {group} FROM generate_series({first}, {last}) AS n;
         UPDATE accounts SET links_count = links_count + {count} WHERE id = '{account}';
         UPDATE groups SET redirects_count = redirects_count + c.count
             FROM (SELECT group_id, count(*) FROM links WHERE account_id = '{account}'
                       AND id BETWEEN {first_id} AND {last_id} GROUP BY group_id) AS c
             WHERE account_id = '{account}' AND groups.id = c.group_id;
         COMMIT;",
        values = values("n"),
        first_id = id_of(&first.to_string()),
        last_id = id_of(&last.to_string()),
    ))?;
    Ok(())
}

/// The columns of `links` for a redirect.
pub(super) const COLUMNS: &str = "id, account_id, kind, name, host, slug, is_active, note, analytics_enabled, created_at, \
                                  updated_at, target_url, antibot_enabled, geo_blocklist, search_key, group_id";

/// The values of these columns for the link of a number, without the ids.
pub(super) fn values(number: &str) -> String {
    let slug = slug_of(number);
    let target = "https://example.com/shop/summer/offers?utm_source=newsletter";
    format!(
        "1, 'A link of the summer campaign', '', {slug}, true, NULL, true, now(), now(), '{target}', false, '', \
         'a link of the summer campaign' || chr(31) || {slug} || chr(31) || '{target}'"
    )
}

/// A text field of an answer.
pub(super) fn text_at(answer: &[u8], pointer: &str) -> Result<String> {
    let answer: Value = serde_json::from_slice(answer)?;
    let text = answer.pointer(pointer).and_then(Value::as_str);
    text.map(str::to_owned).with_context(|| format!("no {pointer} in {answer}"))
}
