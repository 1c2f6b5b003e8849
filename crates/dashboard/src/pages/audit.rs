//! The audit (D78).

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use actix_web::web::Bytes;
use futures_util::stream;
use serde_json::json;
use signpost_app::accounts::{self, OperatorError};
use signpost_app::audit::{self, AuditExport};
use signpost_app::{Application, Operator, with_causes};
use signpost_domain::{
    Account, AccountId, AuditAction, AuditActor, AuditEntry, Page, PageLimit, Preferences, User, UserId,
};

use super::audit_filter::AskedFilter;
use super::operator::{operator, operator_without_page};
use super::{pager, position_of};
use crate::answer::page;
use crate::failure::Failure;
use crate::file_name::{attachment, day, saved_as};
use crate::frame::{TEXTS, account_name, own_shell, shell};
use crate::local_time::date_and_time;
use crate::paths::with_query;
use crate::views::{AuditAccount, AuditPage, AuditRow, NavItem};
use crate::visit::Visit;

/// How many ids of a request for several links a page shows. The export has all of them.
const MOST_IDS: usize = 3;

/// The end of the name of an export.
const EXTENSION: &str = "ndjson";

/// `GET /{account}/audit`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let (query, preferences) = (visit.query(), &member.signed_in.user().preferences);
    let after = position_of(&query);
    let asked = AskedFilter::of(&query, preferences, false);
    let path = format!("/{}/audit", member.caller.account_id());
    let (app, limit) = (visit.app(), PageLimit::default());
    let list = match asked.question.clone() {
        Some(question) => audit::list(app, &member.caller, question, limit, after).await?,
        None => Page::empty(),
    };
    page(&AuditPage {
        lead: TEXTS.audit_lead,
        rows: rows(&visit, &list.items, preferences, None).await?,
        pager: pager(&list, &path, &asked.pairs(), after.is_none()),
        export: with_query(&format!("{path}.ndjson"), asked.pairs()),
        filter: asked.form(&path, &list),
        shell: shell(&visit, &member, NavItem::Audit, TEXTS.audit, vec![]),
    })
}

/// `GET /audit`
pub(crate) async fn show_all(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let (query, user) = (visit.query(), signed_in.user());
    let after = position_of(&query);
    let asked = AskedFilter::of(&query, &user.preferences, true);
    let (app, limit) = (visit.app(), PageLimit::default());
    let account = account_of(&visit, &asked).await?;
    let list = match (asked.question.clone(), account) {
        (Some(question), Some(account)) => {
            audit::list_all(app, &operator, account, question, limit, after).await?
        }
        (None, _) | (_, None) => Page::empty(),
    };
    page(&AuditPage {
        lead: TEXTS.audit_all_lead,
        rows: rows(&visit, &list.items, &user.preferences, Some(&operator)).await?,
        pager: pager(&list, "/audit", &asked.pairs(), after.is_none()),
        export: with_query("/audit.ndjson", asked.pairs()),
        filter: asked.form("/audit", &list),
        shell: own_shell(&visit, user, NavItem::Audit, TEXTS.audit_all),
    })
}

/// The account that a filter names, or `Some(None)` without one. `None` if there is none with this e-mail address. An id need not
/// exist any more, because the audit outlives accounts.
async fn account_of(visit: &Visit, asked: &AskedFilter) -> Result<Option<Option<AccountId>>, Failure> {
    let Some(reference) = &asked.account else { return Ok(Some(None)) };
    match accounts::find(visit.app(), reference).await {
        Ok(id) => Ok(Some(Some(id))),
        Err(OperatorError::NoAccountWithEmail(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// `GET /{account}/audit.ndjson`
pub(crate) async fn export(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let asked = AskedFilter::of(&visit.query(), &member.signed_in.user().preferences, false);
    let question = asked.question.ok_or_else(|| on_page(&visit))?;
    let account = member.caller.account().clone();
    let day = day(visit.app().clock.now(), &member.signed_in.user().preferences);
    let name = saved_as("audit", &account, &day, EXTENSION);
    lines(visit.shared_app(), audit::export(visit.app(), member.caller, question).await?, name).await
}

/// `GET /audit.ndjson`
pub(crate) async fn export_all(visit: Visit) -> Result<HttpResponse, Failure> {
    // The page leads on to the confirmation; a download would save it as a file.
    let (signed_in, operator) = operator_without_page(&visit, &page_of_export(&visit)).await?;
    let asked = AskedFilter::of(&visit.query(), &signed_in.user().preferences, true);
    let account = account_of(&visit, &asked).await?.ok_or_else(|| on_page(&visit))?;
    let question = asked.question.ok_or_else(|| on_page(&visit))?;
    let day = day(visit.app().clock.now(), &signed_in.user().preferences);
    let named = audit::accounts_named(visit.app(), &operator, &account.into_iter().collect()).await?;
    let name = match (account, named.first()) {
        (_, Some(account)) => saved_as("audit", account, &day, EXTENSION),
        // The audit outlives accounts.
        (Some(id), None) => attachment(&format!("audit-{id}-{day}.{EXTENSION}")),
        (None, None) => attachment(&format!("audit-{day}.{EXTENSION}")),
    };
    lines(visit.shared_app(), audit::export_all(visit.app(), &operator, account, question).await?, name).await
}

/// The page with the entries of an export.
fn page_of_export(visit: &Visit) -> String {
    visit.here().replacen("/audit.ndjson", "/audit", 1)
}

/// Leads to the page, which says what is wrong with the filter. A file would be saved, so nobody would read it.
fn on_page(visit: &Visit) -> Failure {
    Failure::Redirected(page_of_export(visit))
}

/// Every entry as one line. The first page is read before the status is sent, so that a failing store is an error page; each
/// later one when the browser has taken the one before.
async fn lines(
    app: Arc<Application>,
    mut export: AuditExport,
    name: String,
) -> Result<HttpResponse, Failure> {
    let first = export.next(&app).await?.unwrap_or_default();
    let body = stream::try_unfold((Some(first), app, export), async |(first, app, mut export)| {
        let mut page = first;
        // An empty chunk would end the file.
        while page.as_ref().is_none_or(Vec::is_empty) {
            // A broken connection shows that entries are missing.
            page = export.next(&app).await.map_err(|error| {
                tracing::error!(cause = with_causes(&error), "an export of the audit was aborted");
                std::io::Error::other("the export was aborted")
            })?;
            if page.is_none() {
                return Ok::<_, std::io::Error>(None);
            }
        }
        let lines: String = page.iter().flatten().map(line).collect();
        Ok(Some((Bytes::from(lines), (None, app, export))))
    });
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_TYPE, "application/x-ndjson"));
    response.insert_header((CONTENT_DISPOSITION, name));
    Ok(response.streaming(body))
}

fn line(entry: &AuditEntry) -> String {
    let AuditEntry { id, account_id, actor, action, object, network, at } = entry;
    let (kind, actor_id) = match actor {
        AuditActor::User(user) => ("user", Some(user.to_string())),
        AuditActor::Key(key) => ("key", Some(key.to_string())),
        AuditActor::Command => ("command", None),
    };
    let line = json!({
        "id": id.to_string(),
        "at": at.to_string(),
        "account_id": account_id.map(|account| account.to_string()),
        "actor": kind,
        "actor_id": actor_id,
        "action": action.as_str(),
        "object": object,
        "network": network.map(|network| network.to_string()),
    });
    format!("{line}\n")
}

/// The entries as rows. Operators see the accounts as well.
async fn rows(
    visit: &Visit,
    entries: &[AuditEntry],
    preferences: &Preferences,
    operator: Option<&Operator>,
) -> Result<Vec<AuditRow>, Failure> {
    let people = audit::people_in(visit.app(), entries).await?;
    let people: HashMap<UserId, &User> = people.iter().map(|user| (user.id, user)).collect();
    let accounts = match operator {
        Some(operator) => {
            let ids = entries.iter().filter_map(|entry| entry.account_id).collect();
            audit::accounts_named(visit.app(), operator, &ids).await?
        }
        None => Vec::new(),
    };
    let accounts: HashMap<AccountId, &Account> = accounts.iter().map(|it| (it.id, it)).collect();
    let account_row = |id: AccountId| AuditAccount {
        id: id.to_string(),
        name: accounts.get(&id).map(|account| account_name(account).to_owned()),
    };
    let row = |entry: &AuditEntry| AuditRow {
        action: (TEXTS.audit_action)(entry.action),
        object: object(entry),
        actor: match entry.actor {
            AuditActor::User(user) => {
                people.get(&user).map_or_else(|| (TEXTS.by_nobody)(&user.to_string()), |user| actor(user))
            }
            AuditActor::Key(key) => (TEXTS.by_key)(&key.to_string()),
            AuditActor::Command => TEXTS.by_command.to_owned(),
        },
        network: entry.network.map(|network| network.to_string()).unwrap_or_default(),
        account: entry.account_id.filter(|_| operator.is_some()).map(account_row),
        at: date_and_time(entry.at, preferences),
    };
    Ok(entries.iter().map(row).collect())
}

/// A person by name and address: anybody can take the name of another.
fn actor(user: &User) -> String {
    let email = user.email.as_str();
    user.name.as_ref().map_or_else(|| email.to_owned(), |name| format!("{} ({email})", name.as_str()))
}

/// What an entry is about. Of many links, the first ones.
fn object(entry: &AuditEntry) -> String {
    let ids: Vec<&str> = entry.object.split(' ').collect();
    match (entry.action, ids.split_at_checked(MOST_IDS)) {
        (AuditAction::LinksDeleted, Some((shown, more))) if !more.is_empty() => {
            format!("{} {}", shown.join(" "), (TEXTS.and_more)(more.len()))
        }
        _ => entry.object.clone(),
    }
}
