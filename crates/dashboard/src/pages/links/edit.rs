//! Showing, changing and deleting a link.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use serde_json::Value;
use signpost_app::analytics;
use signpost_app::links;
use signpost_app::redirects::RedirectWithPixels;
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::{
    LandingPage, Link, LinkKind, LinkState, PageContent, Permission, Precondition, Preferences,
    RedirectContent, Violations,
};

use super::conflict;
use super::create::Mistake;
use super::list::{public_url, state_of, without_scheme};
use super::placement_fields::Choices;
use super::qr::code_of;
use super::{
    landing_fields, life_fields, limit_fields, preview_fields, redirect_fields, rule_rows, way_fields,
};
use crate::answer::{page, page_with, refused, see_other};
use crate::curl;
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::local_time::{date_and_time, number};
use crate::views::{CardSketch, Conflict, EditLinkPage, Form, LinkForm, NavItem, RuleRow};
use crate::visit::{Member, Visit};

/// A link of either kind, as its page shows it.
pub(super) enum Single {
    Redirect(RedirectWithPixels),
    Landing(LandingPage),
}

impl Single {
    fn link(&self) -> Link {
        match self {
            Self::Redirect(single) => single.redirect.clone().into_any(),
            Self::Landing(page) => page.clone().into_any(),
        }
    }

    /// How many visits a redirect with a limit still sends on.
    fn clicks_left(&self) -> Option<String> {
        match self {
            Self::Redirect(single) => single.redirect.content.click_limit.map(limit_fields::left),
            Self::Landing(_) => None,
        }
    }

    /// Where visitors of a redirect are sent, if that is not its target.
    fn final_url(&self) -> Option<String> {
        match self {
            Self::Redirect(single) => way_fields::final_url(&single.redirect.content),
            Self::Landing(_) => None,
        }
    }

    /// The rules of a redirect.
    fn rules(&self, preferences: &Preferences) -> Vec<RuleRow> {
        match self {
            Self::Redirect(single) => rule_rows::of(&single.redirect.content.rules, preferences),
            Self::Landing(_) => vec![],
        }
    }

    /// The card of a redirect.
    fn preview(&self) -> Option<CardSketch> {
        match self {
            Self::Redirect(single) => single.redirect.content.preview.as_ref().map(preview_fields::card),
            Self::Landing(_) => None,
        }
    }

    /// The path of the API, and a body that changes the link to itself.
    fn update(&self) -> (String, Value) {
        match self {
            Self::Redirect(single) => {
                (format!("/v1/redirects/{}", single.redirect.id), redirect_fields::update_body(single))
            }
            Self::Landing(page) => (format!("/v1/landings/{}", page.id), landing_fields::update_body(page)),
        }
    }
}

/// The kind of the link in the path.
fn kind_of(visit: &Visit) -> Result<LinkKind, Failure> {
    LinkKind::of_prefix(visit.part("id")).ok_or(Failure::NOT_FOUND)
}

/// The link in the path.
async fn single_of(visit: &Visit, member: &Member) -> Result<Single, Failure> {
    let (app, caller) = (visit.app(), &member.caller);
    Ok(match kind_of(visit)? {
        LinkKind::Redirect => Single::Redirect(
            links::get::<RedirectContent>(app, caller, visit.id::<RedirectKind>(), None).await?,
        ),
        LinkKind::Landing => {
            Single::Landing(links::get::<PageContent>(app, caller, visit.id::<LandingKind>(), None).await?)
        }
    })
}

/// `GET /{account}/links/{id}`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let single = single_of(&visit, &member).await?;
    let view = edit_page(&visit, &member, &single, None).await?;
    page(&EditLinkPage { is_new: visit.query().given("new").is_some(), ..view })
}

/// `POST /{account}/links/{id}`
pub(crate) async fn save(visit: Visit, form: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let (app, caller) = (visit.app(), &member.caller);
    let preferences = &member.signed_in.user().preferences;
    let shown = form.shown_revision()?;
    let unchanged = Precondition::RevisionIn(vec![shown]);
    let saved = match single_of(&visit, &member).await? {
        Single::Redirect(before) => {
            let id = visit.id::<RedirectKind>();
            let request = redirect_fields::read(&visit, &form, Some(&before), preferences);
            links::update::<RedirectContent>(app, caller, id, request, &unchanged).await.map(|_| ())
        }
        Single::Landing(before) => {
            let id = visit.id::<LandingKind>();
            let request = landing_fields::read(&visit, &form, Some(&before), preferences);
            links::update::<PageContent>(app, caller, id, request, &unchanged).await.map(|_| ())
        }
    };
    let path = format!("/{}/links/{}", caller.account_id(), visit.part("id"));
    let is_stale = conflict::is_stale(&saved);
    let mistake = if is_stale {
        Mistake { violations: Violations::new(), general: None }
    } else {
        match Mistake::of(saved, &form)? {
            Ok(()) => return Ok(see_other(&format!("{path}?said=saved"))),
            Err(mistake) => mistake,
        }
    };
    let single = single_of(&visit, &member).await?;
    let typed = Typed { form: &form, violations: &mistake.violations, is_stale };
    let mut view = edit_page(&visit, &member, &single, Some(typed)).await?;
    view.form.general_error = mistake.general;
    if is_stale {
        return page_with(StatusCode::CONFLICT, &view);
    }
    // The version that the person has seen: a later save must still notice another one.
    view.form.revision = Some(shown.get().to_string());
    refused(&view)
}

/// `POST /{account}/links/{id}/delete`
pub(crate) async fn delete(visit: Visit, _: FormBody) -> Result<HttpResponse, Failure> {
    let member = visit.member().await?;
    let (app, caller) = (visit.app(), &member.caller);
    match kind_of(&visit)? {
        LinkKind::Redirect => {
            links::delete(app, caller, visit.id::<RedirectKind>(), &Precondition::None).await?;
        }
        LinkKind::Landing => {
            links::delete(app, caller, visit.id::<LandingKind>(), &Precondition::None).await?;
        }
    }
    Ok(see_other(&format!("/{}/links?said=link-deleted", caller.account_id())))
}

/// A form that was not saved.
#[derive(Clone, Copy)]
struct Typed<'a> {
    form: &'a FormBody,
    violations: &'a Violations,
    /// Whether the link was changed after the form was shown.
    is_stale: bool,
}

/// The page of a link: with what is stored, or with what was typed.
async fn edit_page(
    visit: &Visit,
    member: &Member,
    single: &Single,
    typed: Option<Typed<'_>>,
) -> Result<EditLinkPage, Failure> {
    let choices = Choices::read(visit, member).await?;
    let preferences = &member.signed_in.user().preferences;
    let shown_in = life_fields::shown_in(typed.map(|typed| typed.form), preferences);
    // With what was typed into a stale form also the fields in which it differs.
    let (form, differing) = match single {
        Single::Redirect(single) => {
            let pixels = redirect_fields::pixels_to_offer(visit, member, &single.pixels).await?;
            let stored = redirect_fields::stored(visit, member, single, &choices, &pixels, &shown_in);
            match typed {
                None => (LinkForm::Redirect(Box::new(stored)), None),
                Some(Typed { form, violations, is_stale }) => {
                    let life = life_fields::typed(form, stored.life.clone(), &shown_in, violations);
                    let before = Some(single);
                    let mut yours =
                        redirect_fields::typed(member, form, before, &choices, &pixels, violations, life);
                    if is_stale {
                        yours.tags_shown.clone_from(&stored.tags_shown);
                    }
                    let differing = is_stale.then(|| conflict::of_redirects(&yours, &stored));
                    (LinkForm::Redirect(Box::new(yours)), differing)
                }
            }
        }
        Single::Landing(page) => {
            let stored = landing_fields::stored(visit, member, page, &choices, &shown_in);
            match typed {
                None => (LinkForm::Landing(Box::new(stored)), None),
                Some(Typed { form, violations, is_stale }) => {
                    let life = life_fields::typed(form, stored.life.clone(), &shown_in, violations);
                    let before = Some(page);
                    let mut yours = landing_fields::typed(member, form, before, &choices, violations, life);
                    if is_stale {
                        yours.tags_shown.clone_from(&stored.tags_shown);
                    }
                    let differing = is_stale.then(|| conflict::of_landings(&yours, &stored));
                    (LinkForm::Landing(Box::new(yours)), differing)
                }
            }
        }
    };
    let link = single.link();
    let url = public_url(visit, &link);
    let (link_state, state) = state_of(&link, visit.app().clock.now(), preferences);
    let updated = date_and_time(link.updated_at, preferences);
    let (path, body) = single.update();
    let api = visit.api_url();
    let curl = vec![
        curl::read(api, TEXTS.curl_read_link, &path),
        curl::send_json(api, TEXTS.curl_update_link, "PATCH", &path, &body),
        curl::send(api, TEXTS.curl_delete_link, "DELETE", &path),
    ];
    Ok(EditLinkPage {
        can_write: member.caller.may(Permission::WriteLinks),
        id: link.id().to_string(),
        name: link.name.as_str().to_owned(),
        form: Form {
            idempotency_key: visit.new_key(),
            revision: Some(link.revision.get().to_string()),
            general_error: None,
        },
        link: form,
        qr: url.as_deref().map(code_of).transpose()?,
        short: url.as_deref().map_or_else(String::new, |url| without_scheme(url).to_owned()),
        url,
        is_new: false,
        is_live: link_state == LinkState::Active,
        state,
        clicks: clicks_of(visit, member, &link).await,
        clicks_left: single.clicks_left(),
        final_url: single.final_url(),
        rules: single.rules(preferences),
        preview: single.preview(),
        statistics: has_statistics(member, &link)
            .then(|| format!("/{}/links/{}/analytics", member.caller.account_id(), link.id())),
        created: date_and_time(link.created_at, preferences),
        delete_key: visit.new_key(),
        conflict: differing.map(|fields| Conflict { saved: updated.clone(), fields }),
        updated,
        shell: shell(visit, member, NavItem::Links, link.name.as_str(), curl),
    })
}

fn has_statistics(member: &Member, link: &Link) -> bool {
    link.analytics_enabled && member.caller.may(Permission::ReadAnalytics)
}

async fn clicks_of(visit: &Visit, member: &Member, link: &Link) -> Option<String> {
    if !has_statistics(member, link) {
        return None;
    }
    let clicks = analytics::clicks_of(visit.app(), &member.caller, std::slice::from_ref(link)).await.ok()?;
    clicks.get(&link.id()).copied().map(number)
}
