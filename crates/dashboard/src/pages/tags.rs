//! Tags (D122).

use actix_web::HttpResponse;
use serde_json::json;
use signpost_app::tags;
use signpost_domain::id::TagKind;
use signpost_domain::{PageLimit, Permission, Tag, TagName, Violations};

use super::links::list::link_tag;
use super::{field, pager, position_of, query_of_part};
use crate::answer::{page, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::views::{NavItem, TagRow, TagsPage};
use crate::visit::{Member, Visit};

/// `GET /{account}/tags`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    page(&tags_page(&visit, &member).await?)
}

/// `POST /{account}/tags/{id}`
pub(crate) async fn rename(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    member.caller.require(Permission::WriteLinks)?;
    let name = match TagName::parse(form.text("name")) {
        Ok(name) => name,
        Err(error) => {
            let violations = Violations::from(error.at("name"));
            let mut view = tags_page(&visit, &member).await?;
            if let Some(row) = view.rows.iter_mut().find(|row| row.id == visit.part("id")) {
                row.rename = Some(field(form.text("name"), &violations, "name"));
            }
            return refused(&view);
        }
    };
    tags::rename(visit.app(), &member.caller, visit.id::<TagKind>(), name).await?;
    let part = query_of_part(&visit.query(), Some("tag-renamed"));
    Ok(see_other(&format!("/{}/tags{part}", member.caller.account_id())))
}

/// `POST /{account}/tags/{id}/delete`
pub(crate) async fn delete(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    tags::delete(visit.app(), &member.caller, visit.id::<TagKind>()).await?;
    Ok(see_other(&format!("/{}/tags?said=tag-deleted", member.caller.account_id())))
}

async fn tags_page(visit: &Visit, member: &Member) -> Result<TagsPage, Failure> {
    let caller = &member.caller;
    let after = position_of(&visit.query());
    let list = tags::list(visit.app(), caller, PageLimit::default(), after).await?;
    let path = format!("/{}/tags", caller.account_id());
    let pager = pager(&list, &path, &[], after.is_none());
    let api = visit.api_url();
    let mut curl = vec![curl::read(api, TEXTS.tags.curl_list, "/v1/tags")];
    if let Some(tag) = list.items.first() {
        let one = format!("/v1/tags/{}", tag.id);
        let body = json!({ "name": tag.name.as_str() });
        curl.push(curl::send_json(api, TEXTS.tags.curl_rename, "PATCH", &one, &body));
        curl.push(curl::send(api, TEXTS.tags.curl_delete, "DELETE", &one));
    }
    let row = |tag: &Tag| TagRow {
        id: tag.id.to_string(),
        tag: link_tag(&tag.name),
        links: (TEXTS.tags.count_links)(usize::try_from(tag.links_count).unwrap_or(usize::MAX)),
        idempotency_key: visit.new_key(),
        rename: None,
    };
    Ok(TagsPage {
        can_write: caller.may(Permission::WriteLinks),
        rows: list.items.iter().map(row).collect(),
        pager,
        part: query_of_part(&visit.query(), None),
        shell: shell(visit, member, NavItem::Links, TEXTS.tags.title, curl),
    })
}
