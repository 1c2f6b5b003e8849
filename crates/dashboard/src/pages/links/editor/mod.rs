//! The editor of a landing page's content: its fields, its widgets, and a preview (D34, D35).
//!
//! Only the button "Save" stores anything. All other buttons send the whole form too, and get it back as it is then, so that the
//! editor works without scripts.

mod page_form;
mod preview;
mod view;
mod widget_type;

use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::{HttpResponse, web};
use signpost_app::links;
use signpost_domain::id::LandingKind;
use signpost_domain::{
    LandingPage, LinkState, Name, PageContent, PageContentRequest, Precondition, Submitted, Theme,
    Violations, Widgets,
};

use self::page_form::{Action, PageForm};
pub(crate) use self::view::caption_of;
use self::view::{Remarks, editor_page, verdict};
use super::conflict::is_stale;
use super::create::Mistake;
use crate::answer::{page, page_with, refused, see_other};
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::TEXTS;
use crate::views::Notice;
use crate::visit::{Member, Visit};

/// `GET /{account}/links/{id}/page`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (member, stored) = open(&visit).await?;
    let form = PageForm::of(&stored);
    let mut view = editor_page(&visit, &member, &stored, &form, &Remarks::default());
    let is_live = stored.state(visit.app().clock.now()) == LinkState::Active;
    if !is_live && visit.query().text("said") == "page-created" {
        view.shell.notice = Some(Notice::ok(TEXTS.editor.said_created_closed.to_owned()));
    }
    page(&view)
}

/// `GET /{account}/links/{id}/page/preview`: the page as it is stored.
pub(crate) async fn show_preview(visit: Visit) -> HttpResponse {
    preview_of_stored(&visit).await.unwrap_or_else(|failure| preview::failed(&failure))
}

/// `GET /{account}/links/{id}/page/accent`: how readable an accent colour is, as a sentence.
pub(crate) async fn judge_accent(visit: Visit) -> Result<HttpResponse, Failure> {
    visit.member().await?;
    let query = visit.query();
    let theme = Theme::parse(query.text("theme")).unwrap_or_default();
    let sentence = verdict(query.text("accent_color"), theme);
    Ok(HttpResponse::Ok().insert_header((CONTENT_TYPE, "text/plain; charset=utf-8")).body(sentence))
}

/// `POST /{account}/links/{id}/page`: does what the pressed button says. The form is large, so it is read only for a member who may
/// change links. With the parameter `preview` the answer is for the frame, whatever it says.
pub(crate) async fn send(visit: Visit, payload: web::Payload) -> Result<HttpResponse, Failure> {
    if visit.query().given("preview").is_some() {
        let shown = preview_of_sent(&visit, payload).await;
        return Ok(shown.unwrap_or_else(|failure| preview::failed(&failure)));
    }
    let (member, body) = visit.writer_with_large_form(payload.into_inner()).await?;
    let stored = stored(&visit, &member).await?;
    let mut form = PageForm::sent(&body);
    match Action::parse(body.text("do"), &form) {
        Action::Save => save(&visit, &member, &stored, &form, &body).await,
        // The button of an editor of the version before.
        Action::Preview => preview_of(&visit, &stored, &form),
        action => {
            let general = (action.adds() && form.is_full()).then(|| TEXTS.editor.full.to_owned());
            let is_refused = general.is_some();
            let current = if is_refused { None } else { form.arrange(action) };
            let remarks = Remarks { current, general, is_changed: true, ..Remarks::of_unsaved(&body) };
            let view = editor_page(&visit, &member, &stored, &form, &remarks);
            if is_refused { refused(&view) } else { page(&view) }
        }
    }
}

async fn preview_of_stored(visit: &Visit) -> Result<HttpResponse, Failure> {
    let (_, stored) = open(visit).await?;
    preview::preview(visit, &stored, None, PageContentRequest::default(), &[])
}

async fn preview_of_sent(visit: &Visit, payload: web::Payload) -> Result<HttpResponse, Failure> {
    let (member, body) = visit.writer_with_large_form(payload.into_inner()).await?;
    let stored = stored(visit, &member).await?;
    preview_of(visit, &stored, &PageForm::sent(&body))
}

fn preview_of(visit: &Visit, stored: &LandingPage, form: &PageForm) -> Result<HttpResponse, Failure> {
    let (title, changes, marks) = previewed(form, stored);
    preview::preview(visit, stored, title.as_ref(), changes, &marks)
}

async fn open(visit: &Visit) -> Result<(Member, LandingPage), Failure> {
    let member = visit.member().await?;
    let stored = stored(visit, &member).await?;
    Ok((member, stored))
}

async fn stored(visit: &Visit, member: &Member) -> Result<LandingPage, Failure> {
    Ok(links::get::<PageContent>(visit.app(), &member.caller, visit.id::<LandingKind>(), None).await?)
}

/// What can be shown of a form, and the keys of its widgets: those with mistakes are left out.
fn previewed<'a>(
    form: &'a PageForm,
    stored: &LandingPage,
) -> (Option<Name>, PageContentRequest, Vec<&'a str>) {
    let (request, violations, places) = form.request(stored);
    let is_sound = |number: usize| {
        let beginning = format!("widgets[{number}].");
        !violations.iter().any(|violation| violation.field().starts_with(&beginning))
    };
    let mut content = request.content;
    content.widgets = content.widgets.map(|drafts| {
        let sound = drafts.into_iter().enumerate().filter(|(number, _)| is_sound(*number));
        sound.map(|(_, draft)| draft).take(Widgets::MAX.min(places.len())).collect()
    });
    let keys = places.iter().enumerate().filter(|(number, _)| is_sound(*number));
    let keys = keys.map(|(_, place)| form.widgets.get(*place).map_or("", |widget| widget.key.as_str()));
    (request.name, content, keys.collect())
}

async fn save(
    visit: &Visit,
    member: &Member,
    stored: &LandingPage,
    form: &PageForm,
    body: &FormBody,
) -> Result<HttpResponse, Failure> {
    let shown = body.shown_revision()?;
    let (request, violations, places) = form.request(stored);
    let remarks = Remarks { places, is_changed: true, ..Remarks::of_unsaved(body) };
    if remarks.places.len() > Widgets::MAX {
        let general = Some(TEXTS.editor.too_many.to_owned());
        let remarks = Remarks { violations, general, ..remarks };
        return refused(&editor_page(visit, member, stored, form, &remarks));
    }
    let submitted = Submitted { value: request, violations };
    let (app, caller, id) = (visit.app(), &member.caller, visit.id::<LandingKind>());
    let unchanged = Precondition::RevisionIn(vec![shown]);
    let saved = links::update::<PageContent>(app, caller, id, submitted, &unchanged).await;
    let path = format!("/{}/links/{}/page?said=saved", caller.account_id(), stored.id);
    if is_stale(&saved) {
        let theirs = self::stored(visit, member).await?;
        if view::differing(form, &PageForm::of(&theirs)).is_empty() {
            // The same form was sent twice.
            return Ok(see_other(&path));
        }
        let remarks = Remarks { is_stale: true, shown: None, ..remarks };
        return page_with(StatusCode::CONFLICT, &editor_page(visit, member, &theirs, form, &remarks));
    }
    let Err(Mistake { violations, general }) = Mistake::of(saved, body)? else { return Ok(see_other(&path)) };
    // Fields of widgets have their messages beside them.
    let general = general.filter(|_| violations.is_empty() || !only_about_the_form(&violations));
    let remarks = Remarks { violations, general, ..remarks };
    refused(&editor_page(visit, member, stored, form, &remarks))
}

/// Whether the editor has an input for everything that is wrong.
fn only_about_the_form(violations: &Violations) -> bool {
    const FIELDS: [&str; 5] = ["title", "description", "avatar_url", "accent_color", "language"];
    violations.iter().all(|violation| {
        let field = violation.field();
        FIELDS.contains(&field) || (field.starts_with("widgets[") && field.contains('.'))
    })
}
