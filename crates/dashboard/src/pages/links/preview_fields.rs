//! The fields of the card that link previewers show of a redirect, as forms have them, and the sketch on its page (D135).

use serde_json::{Map, Value, json};
use signpost_domain::{
    Change, Description, Feature, FieldError, LinkPreview, PreviewTitle, ViolationCode, Violations, WebUrl,
};

use super::typed_address::with_scheme;
use crate::form_body::{FormBody, with_line_feeds};
use crate::frame::TEXTS;
use crate::pages::field;
use crate::texts::PreviewTexts;
use crate::views::{CardSketch, Field, PreviewForm, PreviewInputs};
use crate::visit::Member;

const WORDS: &PreviewTexts = TEXTS.life.preview;

/// The inputs of the title, the description and the picture.
const INPUTS: [&str; 3] = ["preview_title", "preview_description", "preview_image_url"];

/// The field that a form blames if the plan has no cards.
pub(super) const BLAMED: &str = "preview.title";

/// The fields of the API, in the order of [`INPUTS`].
const PATHS: [&str; 3] = [BLAMED, "preview.description", "preview.image_url"];

/// Reads the fields. Without them, and with what is stored, the card stays as it is; all of them empty remove it.
pub(super) fn read(
    form: &FormBody,
    before: Option<&LinkPreview>,
    violations: &mut Violations,
) -> Change<LinkPreview> {
    let texts = typed_texts(form, before);
    if texts == stored_texts(before) {
        return Change::Keep;
    }
    let [title_text, description, image_url] = &texts;
    if texts.iter().all(|text| text.trim().is_empty()) {
        return Change::Clear;
    }
    let title = match non_empty(title_text) {
        Some(title) => PreviewTitle::parse(title),
        None => Err(FieldError::new(ViolationCode::Required, WORDS.title_needed)),
    };
    let [of_title, of_description, of_image_url] = PATHS;
    let title = kept(title, of_title, title_text, violations);
    let description = non_empty(description)
        .and_then(|text| kept(Description::parse(text), of_description, text, violations));
    let image_url =
        non_empty(image_url).and_then(|text| kept(WebUrl::parse(text), of_image_url, text, violations));
    title.map_or(Change::Keep, |title| Change::Set(LinkPreview::new(title, description, image_url)))
}

fn non_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.trim().is_empty())
}

/// What was read of a part; `None` with its violation.
fn kept<T>(read: Result<T, FieldError>, path: &str, typed: &str, violations: &mut Violations) -> Option<T> {
    read.map_err(|error| violations.push(error.at(path).of_value(typed))).ok()
}

/// The texts of the inputs for a card that is stored.
fn stored_texts(preview: Option<&LinkPreview>) -> [String; 3] {
    let Some(preview) = preview else { return <[String; 3]>::default() };
    [
        preview.title().as_str().to_owned(),
        preview.description().map(|text| with_line_feeds(text.as_str())).unwrap_or_default(),
        preview.image_url().map(|url| url.as_str().to_owned()).unwrap_or_default(),
    ]
}

/// The texts that a form has. Those of inputs that it does not have are as in `before`.
fn typed_texts(form: &FormBody, before: Option<&LinkPreview>) -> [String; 3] {
    let [title, description, image_url] = stored_texts(before);
    let [typed_title, typed_description, typed_image_url] = INPUTS.map(|name| form.given(name));
    [
        typed_title.map_or(title, str::to_owned),
        typed_description.map_or(description, str::to_owned),
        typed_image_url.map_or(image_url, |typed| with_scheme(typed).into_owned()),
    ]
}

/// The fields with what is stored.
pub(super) fn stored(member: &Member, preview: Option<&LinkPreview>) -> PreviewForm {
    let [title, description, image_url] = stored_texts(preview).map(Field::of);
    offered(member, PreviewInputs { title, description, image_url }, preview.is_some())
}

/// The fields with what was typed.
pub(super) fn typed(
    member: &Member,
    form: &FormBody,
    before: Option<&LinkPreview>,
    violations: &Violations,
) -> PreviewForm {
    let is_there = before.is_some() || INPUTS.iter().any(|name| form.given(name).is_some());
    let [title, description, image_url] = typed_texts(form, before);
    let [of_title, of_description, of_image_url] = PATHS;
    let inputs = PreviewInputs {
        title: field(&title, violations, of_title),
        description: field(&description, violations, of_description),
        image_url: field(&image_url, violations, of_image_url),
    };
    offered(member, inputs, is_there)
}

/// The fields, if the plan has cards or there is one to remove (D137).
fn offered(member: &Member, inputs: PreviewInputs, is_there: bool) -> PreviewForm {
    let is_in_plan = member.caller.plan().features.contains(Feature::LinkPreviews);
    let hint = match (is_in_plan, is_there) {
        (true, _) => WORDS.hint,
        (false, true) => WORDS.hint_kept,
        (false, false) => WORDS.hint_missing,
    };
    PreviewForm { inputs: (is_in_plan || is_there).then_some(inputs), hint }
}

/// The card as the page of a redirect sketches it.
pub(super) fn card(preview: &LinkPreview) -> CardSketch {
    CardSketch {
        title: preview.title().as_str().to_owned(),
        description: preview.description().and_then(|text| non_empty(text.as_str())).map(str::to_owned),
        image_url: preview.image_url().map(|url| url.as_str().to_owned()),
    }
}

/// Adds the card to the body of a request to the API.
pub(super) fn add_to_body(body: &mut Map<String, Value>, preview: Option<&LinkPreview>) {
    let Some(preview) = preview else { return };
    let mut card = Map::new();
    card.insert(LinkPreview::TITLE.to_owned(), json!(preview.title().as_str()));
    if let Some(description) = preview.description() {
        card.insert(LinkPreview::DESCRIPTION.to_owned(), json!(description.as_str()));
    }
    if let Some(url) = preview.image_url() {
        card.insert(LinkPreview::IMAGE_URL.to_owned(), json!(url.as_str()));
    }
    body.insert(LinkPreview::FIELD.to_owned(), card.into());
}
