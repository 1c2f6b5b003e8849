//! The two versions of a link that was changed after its form was shown.

use super::edit::Single;
use super::placement_fields::Choices;
use super::{landing_fields, redirect_fields};
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::frame::TEXTS;
use crate::local_time::date_and_time;
use crate::views::{Conflict, ConflictField, LandingForm, RedirectForm, Select};
use crate::visit::{Member, Visit};

/// The fields in which what was typed differs from what is stored.
pub(super) async fn conflict(
    visit: &Visit,
    member: &Member,
    form: &FormBody,
    single: &Single,
) -> Result<Conflict, Failure> {
    let choices = Choices::read(visit, member).await?;
    let none = signpost_domain::Violations::new();
    let (fields, updated_at) = match single {
        Single::Redirect(single) => {
            let pixels = redirect_fields::pixels_to_offer(visit, member, &single.pixels).await?;
            let purpose = super::placement_fields::Purpose::Update;
            let yours = redirect_fields::typed(form, &choices, &pixels, purpose, &none);
            let theirs = redirect_fields::stored(visit, single, &choices, &pixels);
            (of_redirects(&yours, &theirs), single.redirect.updated_at)
        }
        Single::Landing(page) => {
            let purpose = super::placement_fields::Purpose::Update;
            let yours = landing_fields::typed(form, &choices, purpose, &none);
            let theirs = landing_fields::stored(visit, page, &choices);
            (of_landings(&yours, &theirs), page.updated_at)
        }
    };
    let saved = date_and_time(updated_at, &member.signed_in.user().preferences);
    Ok(Conflict { saved, fields })
}

fn of_redirects(yours: &RedirectForm, theirs: &RedirectForm) -> Vec<ConflictField> {
    let pixels = |form: &RedirectForm| {
        let chosen = form.pixels.iter().filter(|pixel| pixel.selected);
        chosen.map(|pixel| pixel.label.clone()).collect::<Vec<_>>().join(", ")
    };
    differing([
        (TEXTS.target, yours.target_url.value.clone(), theirs.target_url.value.clone()),
        (TEXTS.domain, chosen(&yours.domain), chosen(&theirs.domain)),
        (TEXTS.slug, yours.slug.value.clone(), theirs.slug.value.clone()),
        (TEXTS.name, yours.name.value.clone(), theirs.name.value.clone()),
        (TEXTS.group, chosen(&yours.group), chosen(&theirs.group)),
        (TEXTS.note, yours.note.value.clone(), theirs.note.value.clone()),
        (TEXTS.state, state(yours.is_active), state(theirs.is_active)),
        (TEXTS.antibot, included(yours.antibot_enabled), included(theirs.antibot_enabled)),
        (TEXTS.countries, yours.countries.value.clone(), theirs.countries.value.clone()),
        (TEXTS.pixels, pixels(yours), pixels(theirs)),
    ])
}

fn of_landings(yours: &LandingForm, theirs: &LandingForm) -> Vec<ConflictField> {
    differing([
        (TEXTS.landing_title, yours.title.value.clone(), theirs.title.value.clone()),
        (TEXTS.description, yours.description.value.clone(), theirs.description.value.clone()),
        (TEXTS.domain, chosen(&yours.domain), chosen(&theirs.domain)),
        (TEXTS.slug, yours.slug.value.clone(), theirs.slug.value.clone()),
        (TEXTS.group, chosen(&yours.group), chosen(&theirs.group)),
        (TEXTS.note, yours.note.value.clone(), theirs.note.value.clone()),
        (TEXTS.state, state(yours.is_active), state(theirs.is_active)),
        (TEXTS.theme, yours.theme.as_str().to_owned(), theirs.theme.as_str().to_owned()),
    ])
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

fn state(is_active: bool) -> String {
    (if is_active { TEXTS.active } else { TEXTS.inactive }).to_owned()
}

fn included(is_on: bool) -> String {
    (if is_on { TEXTS.active } else { TEXTS.inactive }).to_owned()
}
