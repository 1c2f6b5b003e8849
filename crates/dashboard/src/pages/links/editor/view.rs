//! Fills the page of the editor.

use signpost_domain::{
    AccentColor, Background, ButtonStyle, ContactMethod, Font, LandingPage, Permission, Theme, Violations,
    Widget, WidgetBody,
};
use signpost_pages::{AccentContrast, AccentText, accent_contrast};

use super::super::list::{public_url, without_scheme};
use super::page_form::{PageForm, WidgetForm};
use super::widget_type::{self, Input, WidgetType};
use crate::curl;
use crate::form_body::FormBody;
use crate::frame::{TEXTS, shell};
use crate::local_time::date_and_time;
use crate::pages::{field, message_at};
use crate::texts::EditorTexts;
use crate::views::{
    Choice, Conflict, ConflictField, Control, EditorInput, EditorPage, EditorWidget, Field, Form, NavItem,
    Select,
};
use crate::visit::{Member, Visit};

const WORDS: &EditorTexts = TEXTS.editor;

/// What the page says beside the form.
#[derive(Default)]
pub(super) struct Remarks {
    /// What is wrong, by the names of the API.
    pub(super) violations: Violations,
    /// The place of each widget that was sent, by its number there.
    pub(super) places: Vec<usize>,
    /// Why nothing was saved, if no field is to blame.
    pub(super) general: Option<String>,
    /// The place of the widget that the request was about.
    pub(super) current: Option<usize>,
    /// Whether the form differs from what is stored.
    pub(super) is_changed: bool,
    /// Whether the page was changed after the form was shown, and the person has not decided yet.
    pub(super) is_stale: bool,
    /// The version that a save must replace. `None` is the stored one.
    pub(super) shown: Option<String>,
}

impl Remarks {
    /// About a form that was sent and not saved. It keeps the version that it showed before, so that a later save notices
    /// another one. A form that showed a conflict shows it again, until the person has decided.
    pub(super) fn of_unsaved(body: &FormBody) -> Self {
        let shown = Some(body.text("revision").to_owned());
        Self { is_stale: body.is_checked("conflict"), shown, ..Self::default() }
    }
}

/// The page of the editor with this form.
pub(super) fn editor_page(
    visit: &Visit,
    member: &Member,
    page: &LandingPage,
    form: &PageForm,
    remarks: &Remarks,
) -> EditorPage {
    let preferences = &member.signed_in.user().preferences;
    let stored = PageForm::of(page);
    let violations = &remarks.violations;
    let text = |value: &str, name: &str| field(value, violations, name);
    let saved = date_and_time(page.updated_at, preferences);
    let conflict = remarks.is_stale.then(|| Conflict { saved, fields: differing(form, &stored) });
    let conflict = conflict.filter(|conflict| !conflict.fields.is_empty());
    let name = page.name.as_str();
    let revision = remarks.shown.clone().unwrap_or_else(|| page.revision.get().to_string());
    let path = format!("/v1/landings/{}", page.id);
    let api = visit.api_url();
    let body = serde_json::json!({ "theme": page.content.theme.as_str(), "background": page.content.background.as_str() });
    let curl = vec![
        curl::read(api, WORDS.curl_read, &path),
        curl::send_json(api, WORDS.curl_update, "PATCH", &path, &body),
    ];
    EditorPage {
        id: page.id.to_string(),
        name: name.to_owned(),
        can_write: member.caller.may(Permission::WriteLinks),
        is_changed: remarks.is_changed,
        form: Form {
            idempotency_key: visit.new_key(),
            revision: Some(revision),
            general_error: remarks.general.clone(),
        },
        url: public_url(visit, page).map(|url| (url.clone(), without_scheme(&url).to_owned())),
        title: text(&form.title, "title"),
        description: text(&form.description, "description"),
        avatar_url: text(&form.avatar_url, "avatar_url"),
        theme: Theme::ALL.map(|one| Choice::new(one.as_str(), theme_name(one), one == form.theme)).into(),
        accent_color: text(&form.accent_color, "accent_color"),
        // A refused colour has its message already.
        verdict: match message_at(violations, "accent_color") {
            Some(_) => String::new(),
            None => verdict(&form.accent_color, form.theme),
        },
        background: Background::ALL
            .map(|one| Choice::new(one.as_str(), (WORDS.background_name)(one), one == form.background))
            .into(),
        button_style: ButtonStyle::ALL
            .map(|one| Choice::new(one.as_str(), (WORDS.button_style_name)(one), one == form.button_style))
            .into(),
        font: Font::ALL.map(|one| Choice::new(one.as_str(), (WORDS.font_name)(one), one == form.font)).into(),
        language: text(&form.language, "language"),
        own_language: visit.language().unwrap_or_else(|| "en".to_owned()),
        search_engines: form.search_engines,
        widgets: form.has_widgets.then(|| {
            form.widgets.iter().enumerate().map(|(place, widget)| shown(place, widget, remarks)).collect()
        }),
        additions: WidgetType::ALL.map(|each| (each.as_str(), (WORDS.widget)(each.as_str()))).into(),
        conflict,
        shell: shell(visit, member, NavItem::Links, name, curl),
    }
}

const fn theme_name(theme: Theme) -> &'static str {
    match theme {
        Theme::Light => TEXTS.theme_light,
        Theme::Dark => TEXTS.theme_dark,
        Theme::Auto => TEXTS.theme_auto,
    }
}

/// How readable an accent colour is on a page of this theme, as a sentence. Empty without a colour.
pub(super) fn verdict(accent: &str, theme: Theme) -> String {
    let accent = accent.trim();
    if accent.is_empty() {
        return String::new();
    }
    let Ok(accent) = AccentColor::parse(accent) else { return WORDS.accent_invalid.to_owned() };
    let adjusted = |text: Option<AccentText>| match text {
        Some(AccentText::Adjusted(colour)) => Some(colour.as_str().to_owned()),
        Some(AccentText::AsGiven) | None => None,
    };
    let AccentContrast { light, dark } = accent_contrast(&accent, theme);
    match (adjusted(light), adjusted(dark)) {
        (None, None) => WORDS.accent_as_given.to_owned(),
        (Some(light), None) => (WORDS.accent_light)(&light),
        (None, Some(dark)) => (WORDS.accent_dark)(&dark),
        (Some(light), Some(dark)) => (WORDS.accent_both)(&light, &dark),
    }
}

fn shown(place: usize, widget: &WidgetForm, remarks: &Remarks) -> EditorWidget {
    // A widget keeps the key that a browser has sent, because scripts put it among the others there.
    let key = if widget.key.is_empty() { format!("w{place}") } else { widget.key.clone() };
    let type_name = widget.of_type.as_str();
    let type_label = (WORDS.widget)(type_name);
    let sent = remarks.places.iter().position(|sent| *sent == place);
    let inputs: Vec<EditorInput> = widget
        .of_type
        .inputs()
        .iter()
        .map(|(input, _)| {
            let name = input.name();
            let label = (WORDS.input)(type_name, name);
            let path = sent.map(|number| format!("widgets[{number}].{name}"));
            let error = path.and_then(|path| message_at(&remarks.violations, &path));
            let field = Field { value: widget.value(name).to_owned(), error, existing: None };
            EditorInput {
                name: format!("{key}.{name}"),
                label,
                full_label: format!("{}. {type_label}: {label}", place + 1),
                hint: (WORDS.input_hint)(type_name, name),
                control: control(*input, &field),
                field,
            }
        })
        .collect();
    let has_error = inputs.iter().any(|input| input.field.error.is_some());
    EditorWidget {
        key,
        id: widget.id.clone(),
        type_name,
        type_label,
        caption: caption(widget),
        is_removed: widget.is_removed,
        is_open: has_error || widget.is_open,
        is_current: remarks.current == Some(place),
        inputs,
    }
}

fn control(input: Input, field: &Field) -> Control {
    match input {
        Input::Url | Input::ThumbnailUrl | Input::ImageUrl => {
            Control::Line("type=text inputmode=url autocomplete=off autocapitalize=off spellcheck=false")
        }
        Input::Title | Input::Heading | Input::Alt => Control::Line("dir=auto autocomplete=off"),
        Input::Paragraph => Control::Area("dir=auto rows=4"),
        Input::Network => Control::Line("autocomplete=off autocapitalize=off"),
        Input::Address => Control::Line("type=email autocomplete=off"),
        Input::Number => Control::Line("type=tel autocomplete=off"),
        Input::Method => {
            let choice = |one: ContactMethod| {
                Choice::new(one.as_str(), (WORDS.method_name)(one), one.as_str() == field.value)
            };
            Control::Select(Select {
                options: ContactMethod::ALL.map(choice).into(),
                error: field.error.clone(),
            })
        }
    }
}

/// What a widget shows, in a few words.
fn caption(widget: &WidgetForm) -> String {
    first_words(|name| widget.value(name))
}

/// What a stored widget is called, in a few words. `None` for types that only a newer version knows.
pub(crate) fn caption_of(widget: &Widget) -> Option<String> {
    let WidgetBody::Known(content) = &widget.body else { return None };
    let (of_type, values) = widget_type::shown(content);
    let value =
        |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value.as_str());
    let (kind, words) = ((WORDS.widget)(of_type.as_str()), first_words(value));
    Some(if words.is_empty() { kind.to_owned() } else { format!("{kind}: {words}") })
}

fn first_words<'a>(value: impl Fn(&'static str) -> &'a str) -> String {
    let names = ["title", "text", "alt", "network", "address", "number", "image_url", "url"];
    let filled = names.into_iter().map(|name| value(name).trim()).find(|value| !value.is_empty());
    let line = filled.unwrap_or_default().lines().next().unwrap_or_default();
    line.chars().take(80).collect()
}

/// The fields in which two versions differ.
pub(super) fn differing(yours: &PageForm, theirs: &PageForm) -> Vec<ConflictField> {
    let widgets = |form: &PageForm| {
        let kept = form.widgets.iter().filter(|widget| !widget.is_removed);
        let line = |widget: &WidgetForm| {
            let values: Vec<&str> = widget
                .values
                .iter()
                .map(|(_, value)| value.trim())
                .filter(|value| !value.is_empty())
                .collect();
            format!("{}: {}", (WORDS.widget)(widget.of_type.as_str()), values.join(" · "))
        };
        kept.map(line).collect::<Vec<_>>().join("\n")
    };
    let is_on = |on: bool| if on { WORDS.on } else { WORDS.off }.to_owned();
    let fields = [
        (TEXTS.landing_title, yours.title.clone(), theirs.title.clone()),
        (TEXTS.description, yours.description.clone(), theirs.description.clone()),
        (WORDS.widgets, widgets(yours), widgets(theirs)),
        (TEXTS.theme, yours.theme.as_str().to_owned(), theirs.theme.as_str().to_owned()),
        (WORDS.accent, yours.accent_color.clone(), theirs.accent_color.clone()),
        (WORDS.background, yours.background.as_str().to_owned(), theirs.background.as_str().to_owned()),
        (WORDS.buttons, yours.button_style.as_str().to_owned(), theirs.button_style.as_str().to_owned()),
        (WORDS.font, yours.font.as_str().to_owned(), theirs.font.as_str().to_owned()),
        (WORDS.avatar, yours.avatar_url.clone(), theirs.avatar_url.clone()),
        (WORDS.language, yours.language.clone(), theirs.language.clone()),
        (WORDS.search_engines, is_on(yours.search_engines), is_on(theirs.search_engines)),
    ];
    let fields = fields.into_iter().filter(|(_, yours, theirs)| yours.trim() != theirs.trim());
    fields.map(|(label, yours, theirs)| ConflictField { label: label.to_owned(), yours, theirs }).collect()
}
