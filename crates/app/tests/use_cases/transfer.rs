//! Shared operations of the tests of exports and imports.

use signpost_app::Application;
use signpost_app::accounts::OperatorError;
use signpost_app::transfer::{
    Export, Field, FieldValue, Import, ImportCounts, ImportMode, ImportRow, Imported, ImportedRow, Record,
};
use signpost_domain::{AccountId, Group, Link, LinkFilter, LinkKind, PageLimit};

/// The whole export of an account.
pub(crate) async fn exported(app: &Application, account: AccountId) -> Vec<Record> {
    let mut export = Export::start(app, account).await.unwrap();
    let mut records = vec![];
    while let Some(more) = export.next(app).await.unwrap() {
        records.extend(more);
    }
    records
}

/// Imports records in parts, as lines 1 and following.
pub(crate) async fn import_in(
    mode: ImportMode,
    app: &Application,
    account: AccountId,
    records: Vec<Record>,
) -> Result<Vec<ImportedRow>, OperatorError> {
    let mut import = Import::start(app, account, mode).await?;
    let mut results = vec![];
    for (part, records) in records.chunks(100).enumerate() {
        let first = u64::try_from(part * 100 + 1).unwrap();
        let rows =
            (first..).zip(records).map(|(line, record)| ImportRow { line, record: Ok(record.clone()) });
        results.extend(import.push(app, rows.collect()).await?);
    }
    results.extend(import.finish(app).await?);
    Ok(results)
}

/// Imports records and returns their outcomes.
pub(crate) async fn import(app: &Application, account: AccountId, records: Vec<Record>) -> Vec<Imported> {
    let results = import_in(ImportMode::Write, app, account, records).await.unwrap();
    outcomes(results)
}

/// Rehearses an import and returns the outcomes.
pub(crate) async fn rehearse(app: &Application, account: AccountId, records: Vec<Record>) -> Vec<Imported> {
    let results = import_in(ImportMode::Rehearse, app, account, records).await.unwrap();
    outcomes(results)
}

pub(crate) fn outcomes(results: Vec<ImportedRow>) -> Vec<Imported> {
    results.into_iter().map(|row| row.outcome).collect()
}

/// The outcomes, each in one word, and the code of those that failed.
pub(crate) fn words(outcomes: &[Imported]) -> Vec<&'static str> {
    outcomes.iter().map(|outcome| outcome.code().map_or(outcome.as_str(), |code| code.as_str())).collect()
}

pub(crate) fn counted(outcomes: &[Imported]) -> ImportCounts {
    let mut counts = ImportCounts::default();
    for outcome in outcomes {
        counts.count(outcome);
    }
    counts
}

/// A record with these texts.
pub(crate) fn record(fields: &[(Field, &str)]) -> Record {
    let mut record = Record::default();
    for (field, text) in fields {
        record.set(*field, FieldValue::Text((*text).to_owned()));
    }
    record
}

/// A record of a redirect with a slug.
pub(crate) fn row(slug: &str, target: &str) -> Record {
    record(&[(Field::Slug, slug), (Field::TargetUrl, target)])
}

/// A record without these fields, like a table written by hand.
pub(crate) fn without(record: &Record, fields: &[Field]) -> Record {
    let mut kept = Record::default();
    for field in Field::ALL.into_iter().filter(|field| !fields.contains(field)) {
        if let Some(value) = record.get(field) {
            kept.set(field, value.clone());
        }
    }
    kept
}

/// All groups and links of an account, as they are stored.
pub(crate) async fn stored(app: &Application, account: AccountId) -> (Vec<Group>, Vec<Link>) {
    let limit = PageLimit::new(100).unwrap();
    let (mut groups, mut after) = (vec![], None);
    loop {
        let page = app.store.groups(account, limit, after).await.unwrap();
        groups.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut links = vec![];
    for kind in [LinkKind::Redirect, LinkKind::Landing] {
        let mut after = None;
        loop {
            let page = app.store.links(account, kind, &LinkFilter::default(), limit, after).await.unwrap();
            links.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
    }
    (groups, links)
}
