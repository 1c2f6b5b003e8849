//! Groups.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::json;
use signpost_app::AppError;
use signpost_app::groups;
use signpost_app::idempotency::Idempotency;
use signpost_domain::id::GroupKind;
use signpost_domain::{Group, Name, PageLimit, Permission, Precondition, Refusal, Violations};

use super::{field, followed, general_message, pager, position_of, query_of_part, remembered};
use crate::answer::{page, page_with, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::views::{ErrorKind, Field, Form, GroupRow, GroupsPage, NavItem};
use crate::visit::{Member, Visit};

/// `GET /{account}/groups`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    page(&groups_page(&visit, &member).await?)
}

/// `POST /{account}/groups`
pub(crate) async fn create(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteLinks)?;
    let name = match Name::parse(form.text("name")) {
        Ok(name) => name,
        Err(error) => {
            return not_created(&visit, &member, &form, &Violations::from(error.at("name"))).await;
        }
    };
    let key = form.key();
    let path = format!("/{}/groups?said=group-created", member.caller.account_id());
    let answer = path.clone();
    let idempotency =
        Idempotency::of_request(key.as_ref(), move |_: &Group| Some(remembered(answer.clone())));
    match groups::create(visit.app(), &member.caller, name, idempotency).await {
        Err(AppError::Invalid(violations)) => not_created(&visit, &member, &form, &violations).await,
        created => followed(created.map(|_| path)),
    }
}

/// The page with what was typed, and why it was refused.
async fn not_created(
    visit: &Visit,
    member: &Member,
    form: &FormBody,
    violations: &Violations,
) -> Result<HttpResponse, Failure> {
    let mut view = groups_page(visit, member).await?;
    view.form.general_error = general_message(violations, &["name"]);
    refused(&GroupsPage { name: field(form.text("name"), violations, "name"), ..view })
}

/// `POST /{account}/groups/{id}`
pub(crate) async fn rename(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteLinks)?;
    let id = visit.id::<GroupKind>();
    let name = match Name::parse(form.text("name")) {
        Ok(name) => name,
        Err(error) => {
            let violations = Violations::from(error.at("name"));
            let mut view = groups_page(&visit, &member).await?;
            if let Some(row) = view.rows.iter_mut().find(|row| row.id == visit.part("id")) {
                row.rename = Some(field(form.text("name"), &violations, "name"));
            }
            return refused(&view);
        }
    };
    let unchanged = Precondition::RevisionIn(vec![form.shown_revision()?]);
    match groups::rename(visit.app(), &member.caller, id, Ok(name.clone()), &unchanged).await {
        Ok(_) => Ok(renamed(&visit, &member)),
        Err(AppError::Refused(Refusal::PreconditionFailed(_))) => stale(&visit, &member, &name).await,
        Err(error) => Err(error.into()),
    }
}

fn renamed(visit: &Visit, member: &Member) -> HttpResponse {
    let part = query_of_part(&visit.query(), Some("group-renamed"));
    see_other(&format!("/{}/groups{part}", member.caller.account_id()))
}

/// The answer to a rename of a group that got another name after the form was shown: what was typed, and the name that is stored.
async fn stale(visit: &Visit, member: &Member, name: &Name) -> Result<HttpResponse, Failure> {
    let mut view = groups_page(visit, member).await?;
    let row = view.rows.iter_mut().find(|row| row.id == visit.part("id"));
    let Some(row) = row else { return Err(Failure::Page(ErrorKind::Conflict)) };
    if row.name == name.as_str() {
        // The same form was sent twice.
        return Ok(renamed(visit, member));
    }
    row.rename = Some(Field::of(name.as_str()));
    view.form.general_error = Some((TEXTS.kept.group_renamed)(&row.name));
    page_with(StatusCode::CONFLICT, &view)
}

/// `POST /{account}/groups/{id}/delete`
pub(crate) async fn delete(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    groups::delete(visit.app(), &member.caller, visit.id::<GroupKind>(), &Precondition::None).await?;
    Ok(see_other(&format!("/{}/groups?said=group-deleted", member.caller.account_id())))
}

async fn groups_page(visit: &Visit, member: &Member) -> Result<GroupsPage, Failure> {
    let caller = &member.caller;
    let query = visit.query();
    let after = position_of(&query);
    let list = groups::list(visit.app(), caller, PageLimit::default(), after).await?;
    let path = format!("/{}/groups", caller.account_id());
    let pager = pager(&list, &path, &[], after.is_none());
    let api = visit.api_url();
    let curl = vec![
        curl::read(api, TEXTS.curl_list_groups, "/v1/groups"),
        curl::send_json(api, TEXTS.create_group, "POST", "/v1/groups", &json!({ "name": "Newsletter" })),
    ];
    let row = |group: &Group| GroupRow {
        id: group.id.to_string(),
        name: group.name.as_str().to_owned(),
        redirects: (TEXTS.count_redirects)(usize::try_from(group.redirects_count).unwrap_or(usize::MAX)),
        landings: (TEXTS.count_landings)(usize::try_from(group.landings_count).unwrap_or(usize::MAX)),
        revision: group.revision.get().to_string(),
        idempotency_key: visit.new_key(),
        rename: None,
    };
    Ok(GroupsPage {
        can_write: caller.may(Permission::WriteLinks),
        rows: list.items.iter().map(row).collect(),
        pager,
        part: query_of_part(&visit.query(), None),
        form: Form { idempotency_key: visit.new_key(), ..Form::default() },
        name: Field::default(),
        shell: shell(visit, member, NavItem::Groups, TEXTS.groups, curl),
    })
}
