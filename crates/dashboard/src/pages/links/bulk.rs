//! What is done with several links at once.

use std::collections::HashMap;

use actix_web::HttpResponse;
use signpost_app::AppError;
use signpost_app::groups;
use signpost_app::idempotency::Idempotency;
use signpost_app::links::{delete_any, named, set_active};
use signpost_domain::{Batch, GroupId, IdReference, Link, LinkId, Permission, Refusal, Rejection};

use super::list::{links_page, public_url, without_scheme};
use crate::answer::{page, see_other};
use crate::failure::Failure;
use crate::form_body::{FormBody, pairs};
use crate::frame::{TEXTS, shell};
use crate::pages::sentence;
use crate::query::Query;
use crate::texts::Counted;
use crate::views::{BulkDeletePage, BulkFailure, BulkItem, BulkSummary, Form, NavItem};
use crate::visit::{Member, Visit};

/// What happened to each link.
type Outcomes = Vec<Result<(), Rejection>>;

/// `POST /{account}/links/bulk`: `move`, `activate`, `deactivate` or `delete` the links with these `ids`.
pub(crate) async fn run(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let caller = &member.caller;
    caller.require(Permission::WriteLinks)?;
    let ids: Vec<String> = form.all("ids").map(str::to_owned).collect();
    let Ok(batch) = Batch::new(ids.clone()) else {
        return Ok(see_other(&format!("/{}/links?said=none-selected", caller.account_id())));
    };
    let names = names_of(&visit, &member, &ids).await?;
    if form.text("action") == "delete" && !form.is_checked("confirmed") {
        return page(&question(&visit, &member, &form, &ids, &names));
    }
    // Each action has the same effect when it is repeated, so no answer is remembered.
    let (outcomes, said): (Outcomes, Counted) = match form.text("action") {
        "activate" => (
            changed(set_active(visit.app(), caller, &batch, true, Idempotency::disabled()).await)?,
            TEXTS.said_activated,
        ),
        "deactivate" => (
            changed(set_active(visit.app(), caller, &batch, false, Idempotency::disabled()).await)?,
            TEXTS.said_deactivated,
        ),
        "delete" => (
            changed(delete_any(visit.app(), caller, &batch, Idempotency::disabled()).await)?,
            TEXTS.said_deleted,
        ),
        "move" if form.text("group").is_empty() => {
            (without_group(&visit, &member, &ids, &names).await?, TEXTS.said_moved)
        }
        "move" => {
            let group = IdReference::parse(form.text("group"));
            (
                changed(groups::assign(visit.app(), caller, group, &batch, Idempotency::disabled()).await)?,
                TEXTS.said_moved,
            )
        }
        _ => return Err(Failure::Page(crate::views::ErrorKind::MethodNotAllowed)),
    };
    let summary = summary(&ids, &names, &outcomes, said);
    let back = Query::of(pairs(form.text("back").trim_start_matches('?').as_bytes()));
    page(&links_page(&visit, &member, &back, Some(summary)).await?)
}

fn changed<T>(outcomes: Result<Vec<Result<T, Rejection>>, AppError>) -> Result<Outcomes, Failure> {
    Ok(outcomes?.into_iter().map(|outcome| outcome.map(drop)).collect())
}

/// Takes each link out of its group, group by group. Links without a group stay as they are.
async fn without_group(
    visit: &Visit,
    member: &Member,
    ids: &[String],
    names: &HashMap<String, Link>,
) -> Result<Vec<Result<(), Rejection>>, Failure> {
    let mut by_group: HashMap<GroupId, Vec<String>> = HashMap::new();
    for id in ids {
        if let Some(group) = names.get(id).and_then(|link| link.group_id) {
            by_group.entry(group).or_default().push(id.clone());
        }
    }
    let mut outcomes = HashMap::new();
    for (group, ids) in by_group {
        let Ok(batch) = Batch::new(ids.clone()) else { continue };
        let group = IdReference::parse(&group.to_string());
        let moved =
            groups::unassign(visit.app(), &member.caller, group, &batch, Idempotency::disabled()).await;
        outcomes.extend(ids.into_iter().zip(changed(moved)?));
    }
    let outcome = |id: &String| {
        let missing = || Err(Rejection::Refused(Refusal::RedirectNotFound));
        outcomes.remove(id).unwrap_or_else(|| if names.contains_key(id) { Ok(()) } else { missing() })
    };
    Ok(ids.iter().map(outcome).collect())
}

/// The chosen links that exist, by their ids.
async fn names_of(visit: &Visit, member: &Member, ids: &[String]) -> Result<HashMap<String, Link>, Failure> {
    let ids: Vec<LinkId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
    let links = named(visit.app(), &member.caller, &ids).await?;
    Ok(links.into_iter().map(|link| (link.id().to_string(), link)).collect())
}

fn question(
    visit: &Visit,
    member: &Member,
    form: &FormBody,
    ids: &[String],
    names: &HashMap<String, Link>,
) -> BulkDeletePage {
    let item = |(id, link): (&String, &Link)| BulkItem {
        id: id.clone(),
        name: link.name.as_str().to_owned(),
        short: public_url(visit, link).map_or_else(String::new, |url| without_scheme(&url).to_owned()),
    };
    BulkDeletePage {
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        items: ids.iter().filter_map(|id| Some((id, names.get(id)?))).map(item).collect(),
        back: form.text("back").to_owned(),
        shell: shell(visit, member, NavItem::Links, TEXTS.title_bulk_delete, vec![]),
    }
}

fn summary(
    ids: &[String],
    names: &HashMap<String, Link>,
    outcomes: &[Result<(), Rejection>],
    said: Counted,
) -> BulkSummary {
    let failure = |(id, outcome): (&String, &Result<(), Rejection>)| {
        let reason = match outcome.as_ref().err()? {
            Rejection::Refused(refusal) => refusal.to_string(),
            Rejection::Invalid(violations) => sentence(&violations.to_string()),
        };
        let name = names.get(id).map_or_else(|| id.clone(), |link| link.name.as_str().to_owned());
        Some(BulkFailure { name, reason })
    };
    let failures: Vec<BulkFailure> = ids.iter().zip(outcomes).filter_map(failure).collect();
    let mut text = said(outcomes.len() - failures.len());
    if !failures.is_empty() {
        text = format!("{text} {}", (TEXTS.said_failed)(failures.len()));
    }
    BulkSummary { text, failures }
}
