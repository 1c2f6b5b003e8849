//! Groups.

use actix_web::HttpResponse;
use serde_json::json;
use signpost_app::groups;
use signpost_app::idempotency::Idempotency;
use signpost_domain::id::GroupKind;
use signpost_domain::{Group, Name, PageLimit, Permission, Precondition, Violations};

use super::{field, followed, pager, position_of, query_of_part, remembered};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::views::{Field, Form, GroupRow, GroupsPage, NavItem};
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
            let violations = Violations::from(error.at("name"));
            let name = field(form.text("name"), &violations, "name");
            return refused(&GroupsPage { name, ..groups_page(&visit, &member).await? });
        }
    };
    let key = form.key();
    let path = format!("/{}/groups?said=group-created", member.caller.account_id());
    let answer = path.clone();
    let idempotency =
        Idempotency::of_request(key.as_ref(), move |_: &Group| Some(remembered(answer.clone())));
    followed(groups::create(visit.app(), &member.caller, name, idempotency).await.map(|_| path))
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
    groups::rename(visit.app(), &member.caller, id, Ok(name), &unchanged).await?;
    let part = query_of_part(&visit.query(), Some("group-renamed"));
    Ok(see_other(&format!("/{}/groups{part}", member.caller.account_id())))
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
