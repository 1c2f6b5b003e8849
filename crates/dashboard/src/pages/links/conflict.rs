//! The two versions of a link that was changed after its form was shown.

use signpost_app::AppError;
use signpost_domain::Refusal;

use super::life_fields::compared;
use super::password_fields;
use crate::frame::TEXTS;
use crate::views::{
    ConflictField, Field, LandingForm, LifeForm, LinkPasswordForm, PreviewForm, PreviewInputs, RedirectForm,
    Select, WayForm,
};

/// Whether a form was not saved because the link was changed after the form was shown (D120).
pub(super) fn is_stale<T>(saved: &Result<T, AppError>) -> bool {
    matches!(saved, Err(AppError::Refused(Refusal::PreconditionFailed(_))))
}

/// The fields in which what was typed differs from what is stored.
pub(super) fn of_redirects(yours: &RedirectForm, theirs: &RedirectForm) -> Vec<ConflictField> {
    let pixels = |form: &RedirectForm| {
        let chosen = form.pixels.iter().filter(|pixel| pixel.selected);
        chosen.map(|pixel| pixel.label.clone()).collect::<Vec<_>>().join(", ")
    };
    let fields = [
        (TEXTS.target, yours.target_url.value.clone(), theirs.target_url.value.clone()),
        (TEXTS.domain, chosen(&yours.domain), chosen(&theirs.domain)),
        (TEXTS.slug, yours.slug.value.clone(), theirs.slug.value.clone()),
        (TEXTS.name, yours.name.value.clone(), theirs.name.value.clone()),
        (TEXTS.group, chosen(&yours.group), chosen(&theirs.group)),
        (TEXTS.tags.title, yours.tags.value.clone(), theirs.tags.value.clone()),
        (TEXTS.note, yours.note.value.clone(), theirs.note.value.clone()),
        (TEXTS.state, state(yours.is_active), state(theirs.is_active)),
        (TEXTS.antibot, state(yours.antibot_enabled), state(theirs.antibot_enabled)),
        (TEXTS.countries, yours.countries.value.clone(), theirs.countries.value.clone()),
        (TEXTS.pixels, pixels(yours), pixels(theirs)),
        (TEXTS.life.max_clicks, limit(yours), limit(theirs)),
        of_passwords(&yours.password, &theirs.password),
    ];
    let shared = of_lives(&yours.life, &theirs.life);
    let previews = of_previews(&yours.preview, &theirs.preview);
    differing(fields.into_iter().chain(shared).chain(of_ways(&yours.way, &theirs.way)).chain(previews))
}

/// As [`of_redirects`].
pub(super) fn of_landings(yours: &LandingForm, theirs: &LandingForm) -> Vec<ConflictField> {
    let fields = [
        (TEXTS.landing_title, yours.title.value.clone(), theirs.title.value.clone()),
        (TEXTS.description, yours.description.value.clone(), theirs.description.value.clone()),
        (TEXTS.domain, chosen(&yours.domain), chosen(&theirs.domain)),
        (TEXTS.slug, yours.slug.value.clone(), theirs.slug.value.clone()),
        (TEXTS.group, chosen(&yours.group), chosen(&theirs.group)),
        (TEXTS.tags.title, yours.tags.value.clone(), theirs.tags.value.clone()),
        (TEXTS.note, yours.note.value.clone(), theirs.note.value.clone()),
        (TEXTS.state, state(yours.is_active), state(theirs.is_active)),
        (TEXTS.theme, yours.theme.as_str().to_owned(), theirs.theme.as_str().to_owned()),
        of_passwords(&yours.password, &theirs.password),
    ];
    differing(fields.into_iter().chain(of_lives(&yours.life, &theirs.life)))
}

fn of_lives(yours: &LifeForm, theirs: &LifeForm) -> [(&'static str, String, String); 3] {
    let words = TEXTS.life;
    [
        (words.starts_at, compared(&yours.starts_at), compared(&theirs.starts_at)),
        (words.expires_at, compared(&yours.expires_at), compared(&theirs.expires_at)),
        (words.fallback_url, yours.fallback_url.value.clone(), theirs.fallback_url.value.clone()),
    ]
}

fn of_passwords(yours: &LinkPasswordForm, theirs: &LinkPasswordForm) -> (&'static str, String, String) {
    (TEXTS.link_password.title, password_fields::compared(yours), password_fields::compared(theirs))
}

fn of_ways(yours: &WayForm, theirs: &WayForm) -> impl Iterator<Item = (&'static str, String, String)> {
    let words = TEXTS.life;
    let fields = [
        (words.redirect_status, chosen(&yours.redirect_status), chosen(&theirs.redirect_status)),
        (words.forward_query, state(yours.forward_query), state(theirs.forward_query)),
    ];
    let utm = yours.utm.iter().zip(&theirs.utm);
    fields.into_iter().chain(
        utm.map(|(yours, theirs)| (yours.label, yours.field.value.clone(), theirs.field.value.clone())),
    )
}

fn of_previews(yours: &PreviewForm, theirs: &PreviewForm) -> [(&'static str, String, String); 3] {
    let words = TEXTS.life.preview;
    let compared = |label, input: fn(&PreviewInputs) -> &Field| {
        let text = |form: &PreviewForm| {
            form.inputs.as_ref().map_or_else(String::new, |inputs| input(inputs).value.clone())
        };
        (label, text(yours), text(theirs))
    };
    [
        compared(words.card_title, |inputs| &inputs.title),
        compared(words.card_description, |inputs| &inputs.description),
        compared(words.card_image_url, |inputs| &inputs.image_url),
    ]
}

fn limit(form: &RedirectForm) -> String {
    form.limit.max_clicks.as_ref().map_or_else(String::new, |field| field.value.clone())
}

fn differing(fields: impl IntoIterator<Item = (&'static str, String, String)>) -> Vec<ConflictField> {
    let fields = fields.into_iter().filter(|(_, yours, theirs)| yours.trim() != theirs.trim());
    fields.map(|(label, yours, theirs)| ConflictField { label: label.to_owned(), yours, theirs }).collect()
}

fn chosen(select: &Select) -> String {
    select
        .options
        .iter()
        .find(|choice| choice.selected)
        .map_or_else(String::new, |choice| choice.label.clone())
}

fn state(is_on: bool) -> String {
    (if is_on { TEXTS.active } else { TEXTS.inactive }).to_owned()
}
