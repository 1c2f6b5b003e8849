//! The editor of a landing page's content.

use askama::Template;

use super::form::{Choice, Field, Form, Select, Violation};
use super::link_forms::Conflict;
use super::shell::Shell;

/// The content of a page: `GET` and `POST A/links/ID/page`. The button `do` says what the form does. Only `save` stores anything;
/// the others answer with the form as it is then, or with the page as visitors would see it.
#[derive(Debug, Clone, Template)]
#[template(path = "editor.html")]
pub struct EditorPage {
    /// The frame.
    pub shell: Shell,
    /// The id of the page.
    pub id: String,
    /// Its stored title.
    pub name: String,
    /// Whether the user may change it. Otherwise the fields are disabled.
    pub can_write: bool,
    /// Whether the form has changes that are not saved.
    pub is_changed: bool,
    /// The form. After a conflict its `revision` is that of the version that was stored when a save failed for it.
    pub form: Form,
    /// The public address, with and without its scheme.
    pub url: Option<(String, String)>,
    /// `title`
    pub title: Field,
    /// `description`
    pub description: Field,
    /// `avatar_url`
    pub avatar_url: Field,
    /// `theme`
    pub theme: Vec<Choice>,
    /// `accent_color`
    pub accent_color: Field,
    /// How readable the accent colour is; empty without one.
    pub verdict: String,
    /// `background`
    pub background: Vec<Choice>,
    /// `button_style`
    pub button_style: Vec<Choice>,
    /// `font`
    pub font: Vec<Choice>,
    /// `language`
    pub language: Field,
    /// The language of the user's browser, as an example.
    pub own_language: String,
    /// `search_engines`
    pub search_engines: bool,
    /// The widgets. `None` if they cannot be edited, because one of them is of a type that only a newer version knows.
    pub widgets: Option<Vec<EditorWidget>>,
    /// The types that can be added: the object of the button, and its label.
    pub additions: Vec<(&'static str, &'static str)>,
    /// Somebody else changed the page meanwhile, and the user has not decided yet. The fields hold what was typed.
    pub conflict: Option<Conflict>,
}

impl EditorPage {
    /// Whether the request before was about a widget, which then gets the focus.
    fn is_arranged(&self) -> bool {
        self.widgets.iter().flatten().any(|widget| widget.is_current)
    }

    fn violations<'a>(&'a self) -> Vec<Violation<'a>> {
        let (t, e) = (self.shell.t, self.shell.t.editor);
        let own = [
            ("title", t.landing_title, &self.title),
            ("description", t.description, &self.description),
            ("avatar_url", e.avatar, &self.avatar_url),
            ("accent_color", e.accent, &self.accent_color),
            ("language", e.language, &self.language),
        ];
        let of_widgets = self.widgets.iter().flatten().flat_map(|widget| &widget.inputs);
        let of_widgets =
            of_widgets.map(|input| (input.name.as_str(), input.full_label.as_str(), &input.field));
        let all = own.into_iter().chain(of_widgets);
        let violation = |(field, label, of): (&'a str, &'a str, &'a Field)| {
            of.error.as_deref().map(|message| Violation { field, label, message })
        };
        all.filter_map(violation).collect()
    }
}

/// What the frame of the preview shows in place of the page.
#[derive(Debug, Clone, Template)]
#[template(path = "preview-failed.html")]
pub struct PreviewFailedPage<'a> {
    /// What happened, in a few words.
    pub heading: &'a str,
    /// What happened; may be empty.
    pub text: String,
    /// What to do next.
    pub advice: &'a str,
}

/// A widget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditorWidget {
    /// The beginning of the names of its inputs, and the object of its buttons.
    pub key: String,
    /// The id of a stored widget.
    pub id: Option<String>,
    /// The name of its type in the API.
    pub type_name: &'static str,
    /// Its type in words.
    pub type_label: &'static str,
    /// What it shows, in a few words.
    pub caption: String,
    /// Whether saving drops it.
    pub is_removed: bool,
    /// Whether its inputs are shown.
    pub is_open: bool,
    /// Whether the request before was about it, so that it gets the focus.
    pub is_current: bool,
    /// Its inputs.
    pub inputs: Vec<EditorInput>,
}

impl EditorWidget {
    /// The attributes of one of its inputs. The first one of an added widget gets the focus.
    fn attributes(&self, input: &EditorInput) -> String {
        let own = match input.control {
            Control::Line(attributes) | Control::Area(attributes) => attributes,
            Control::Select(_) => "",
        };
        let is_first = self.inputs.first() == Some(input);
        let focus = if is_first && self.is_open && self.is_current { " autofocus" } else { "" };
        format!("{own}{focus}")
    }
}

/// An input of a widget.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EditorInput {
    /// The name, which begins with the key of the widget.
    pub name: String,
    /// The label.
    pub label: &'static str,
    /// The label with the place and the type of the widget, for the list of mistakes.
    pub full_label: String,
    /// What it is for; may be empty.
    pub hint: &'static str,
    /// What was typed, and why it was refused.
    pub field: Field,
    /// What it looks like.
    pub control: Control,
}

/// The kinds of inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// One line, with these attributes.
    Line(&'static str),
    /// Several lines, with these attributes.
    Area(&'static str),
    /// One of several choices.
    Select(Select),
}

impl Default for Control {
    fn default() -> Self {
        Self::Line("")
    }
}
