//! What the form of a page's content says, complete or not. Nothing that was typed is ever dropped from it.

use std::collections::HashSet;

use signpost_domain::{
    AccentColor, Background, ButtonStyle, Change, Description, FieldError, Font, IdReference, LandingPage,
    LandingRequest, LanguageTag, Name, PageContentRequest, Theme, Violations, WebUrl, WidgetBody,
    WidgetContent, WidgetDraft, Widgets,
};

use super::super::placement_fields::missing;
use super::super::typed_address::with_scheme;
use super::widget_type::{self, WidgetType};
use crate::form_body::{FormBody, with_line_feeds};

/// How many widgets a form may have: those of a full page, and as many removed ones.
const MOST_WIDGETS: usize = 2 * Widgets::MAX;

/// The form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PageForm {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) avatar_url: String,
    pub(super) theme: Theme,
    pub(super) accent_color: String,
    pub(super) background: Background,
    pub(super) button_style: ButtonStyle,
    pub(super) font: Font,
    pub(super) language: String,
    pub(super) search_engines: bool,
    /// Whether the form shows widgets. It does not if one of them is of a type that only a newer version knows.
    pub(super) has_widgets: bool,
    pub(super) widgets: Vec<WidgetForm>,
}

/// The form of a widget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WidgetForm {
    /// The beginning of the names of its inputs, and the object of its buttons. Empty until the page
    /// numbers the widget by its place.
    pub(super) key: String,
    /// The id of a stored widget.
    pub(super) id: Option<String>,
    pub(super) of_type: WidgetType,
    /// The values, by the names of the inputs.
    pub(super) values: Vec<(&'static str, String)>,
    /// Whether saving drops it. Until then it can be restored.
    pub(super) is_removed: bool,
    /// Whether its inputs are shown.
    pub(super) is_open: bool,
}

impl WidgetForm {
    /// An empty form.
    fn new(of_type: WidgetType) -> Self {
        let values = of_type.inputs().iter().map(|(input, _)| (input.name(), String::new())).collect();
        Self { key: String::new(), id: None, of_type, values, is_removed: false, is_open: true }
    }

    pub(super) fn value(&self, name: &str) -> &str {
        self.values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// The stored content of the widget, if it still has the values with which `shown`, the form of the page, shows it.
    fn unchanged(&self, shown: &PageForm, page: &LandingPage) -> Option<WidgetContent> {
        let id = self.id.as_deref()?;
        let is_this = |widget: &&WidgetForm| widget.id.as_deref() == Some(id);
        let shown = shown.widgets.iter().find(is_this)?;
        if (shown.of_type, &shown.values) != (self.of_type, &self.values) {
            return None;
        }
        let stored = page.content.widgets.as_slice().iter().find(|widget| widget.id.to_string() == id)?;
        match &stored.body {
            WidgetBody::Known(content) => Some(content.clone()),
            WidgetBody::Unknown(_) => None,
        }
    }
}

/// What a button of the form asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Save,
    Preview,
    Add(WidgetType),
    /// By the place in the list.
    Up(usize),
    Down(usize),
    Remove(usize),
    Restore(usize),
}

impl Action {
    /// Whether the page gets another widget.
    pub(super) const fn adds(self) -> bool {
        matches!(self, Self::Add(_) | Self::Restore(_))
    }

    /// Reads the value of a button of `form`. Anything else saves, like the Enter key in an input.
    pub(super) fn parse(text: &str, form: &PageForm) -> Self {
        let Some((name, object)) = text.split_once('-') else {
            return if text == "preview" { Self::Preview } else { Self::Save };
        };
        let place = form.widgets.iter().position(|widget| widget.key == object);
        match (name, place, WidgetType::named(object)) {
            ("add", _, Some(of_type)) => Self::Add(of_type),
            ("up", Some(place), _) => Self::Up(place),
            ("down", Some(place), _) => Self::Down(place),
            ("remove", Some(place), _) => Self::Remove(place),
            ("restore", Some(place), _) => Self::Restore(place),
            _ => Self::Save,
        }
    }
}

impl PageForm {
    /// Whether saving would store as many widgets as a page may have.
    pub(super) fn is_full(&self) -> bool {
        self.widgets.iter().filter(|widget| !widget.is_removed).count() >= Widgets::MAX
    }

    /// The form of a stored page, with line ends as forms send them. It has no widgets if one of them is of a type that only a newer version knows.
    pub(super) fn of(page: &LandingPage) -> Self {
        let content = &page.content;
        let mut is_known = true;
        let mut widgets = Vec::new();
        for widget in content.widgets.as_slice() {
            match &widget.body {
                WidgetBody::Known(known) => {
                    let (of_type, values) = widget_type::shown(known);
                    let values =
                        values.into_iter().map(|(name, value)| (name, with_line_feeds(&value))).collect();
                    let id = Some(widget.id.to_string());
                    let key = String::new();
                    widgets.push(WidgetForm { key, id, of_type, values, is_removed: false, is_open: false });
                }
                WidgetBody::Unknown(_) => is_known = false,
            }
        }
        Self {
            title: page.name.as_str().to_owned(),
            description: with_line_feeds(content.description.as_ref().map_or("", Description::as_str)),
            avatar_url: text(content.avatar_url.as_ref().map(WebUrl::as_str)),
            theme: content.theme,
            accent_color: text(content.accent_color.as_ref().map(AccentColor::as_str)),
            background: content.background,
            button_style: content.button_style,
            font: content.font,
            language: text(content.language.as_ref().map(LanguageTag::as_str)),
            search_engines: content.search_engines,
            has_widgets: is_known,
            widgets: if is_known { widgets } else { Vec::new() },
        }
    }

    /// The form as it was sent. Widgets come in the order of their hidden inputs `widget`; more than the page ever shows are
    /// not read.
    pub(super) fn sent(form: &FormBody) -> Self {
        let fields = form.first_values();
        let value = |name: &str| fields.get(name).copied().unwrap_or_default();
        let text = |name: &str| value(name).to_owned();
        let mut seen = HashSet::new();
        let keys = form.all("widget").filter(move |key| seen.insert(*key)).take(MOST_WIDGETS);
        let widget = |key: &str| {
            let text = |name: &str| value(&format!("{key}.{name}"));
            let of_type = WidgetType::named(text("type"))?;
            let values = of_type.inputs().iter();
            Some(WidgetForm {
                key: key.to_owned(),
                id: Some(text("id")).filter(|id| !id.is_empty()).map(str::to_owned),
                of_type,
                values: values.map(|(input, _)| (input.name(), input.typed(text(input.name())))).collect(),
                is_removed: !text("removed").is_empty(),
                is_open: false,
            })
        };
        Self {
            title: text("title"),
            description: text("description"),
            avatar_url: with_scheme(value("avatar_url")).into_owned(),
            theme: Theme::parse(form.text("theme")).unwrap_or_default(),
            accent_color: text("accent_color"),
            background: Background::parse(form.text("background")).unwrap_or_default(),
            button_style: ButtonStyle::parse(form.text("button_style")).unwrap_or_default(),
            font: Font::parse(form.text("font")).unwrap_or_default(),
            language: text("language"),
            search_engines: form.is_checked("search_engines"),
            has_widgets: form.given("has_widgets").is_some(),
            widgets: keys.filter_map(widget).collect(),
        }
    }

    /// Changes the list of widgets. Returns the place of the widget that was changed.
    pub(super) fn arrange(&mut self, action: Action) -> Option<usize> {
        match action {
            Action::Save | Action::Preview => None,
            Action::Add(_) if self.widgets.len() >= MOST_WIDGETS => None,
            Action::Add(of_type) => {
                self.widgets.push(WidgetForm::new(of_type));
                Some(self.widgets.len() - 1)
            }
            Action::Up(place) => self.swapped(place, place.checked_sub(1)?),
            Action::Down(place) => self.swapped(place, place.checked_add(1)?),
            Action::Remove(place) => self.marked(place, true),
            Action::Restore(place) => self.marked(place, false),
        }
    }

    fn swapped(&mut self, place: usize, other: usize) -> Option<usize> {
        if place.max(other) >= self.widgets.len() {
            return None;
        }
        self.widgets.swap(place, other);
        Some(other)
    }

    fn marked(&mut self, place: usize, is_removed: bool) -> Option<usize> {
        self.widgets.get_mut(place)?.is_removed = is_removed;
        Some(place)
    }

    /// The request that saves the form, its violations, and the place in the form of each widget that it sends. A widget with
    /// a mistake is sent as a divider, so that later ones keep their numbers; such a request is refused. Texts that the form shows
    /// as they are stored keep their line ends.
    pub(super) fn request(&self, before: &LandingPage) -> (LandingRequest, Violations, Vec<usize>) {
        let mut violations = Violations::new();
        let mut places = Vec::new();
        let mut drafts = Vec::new();
        let shown = Self::of(before);
        let is_sent = |widget: &WidgetForm| self.has_widgets && !widget.is_removed;
        for (place, widget) in self.widgets.iter().enumerate().filter(|(_, widget)| is_sent(widget)) {
            let path = format!("widgets[{}]", places.len());
            let read = widget.unchanged(&shown, before).or_else(|| {
                widget_type::read(widget.of_type, |name| widget.value(name), &path, &mut violations)
            });
            let id = widget.id.as_deref().map(IdReference::parse);
            drafts.push(WidgetDraft { id, content: read.unwrap_or(WidgetContent::Divider) });
            places.push(place);
        }
        let content = self.content(&shown, self.has_widgets.then_some(drafts), &mut violations);
        let title = if self.title.trim().is_empty() { Err(missing()) } else { Name::parse(&self.title) };
        let name = title.map_err(|error| violations.push(error.at("title"))).ok();
        (LandingRequest { name, content, ..LandingRequest::default() }, violations, places)
    }

    fn content(
        &self,
        shown: &Self,
        widgets: Option<Vec<WidgetDraft>>,
        violations: &mut Violations,
    ) -> PageContentRequest {
        let description = if shown.description == self.description {
            Change::Keep
        } else {
            change(&self.description, "description", Description::parse, violations)
        };
        PageContentRequest {
            description,
            avatar_url: change(self.avatar_url.trim(), "avatar_url", WebUrl::parse, violations),
            theme: Some(self.theme),
            accent_color: change(self.accent_color.trim(), "accent_color", AccentColor::parse, violations),
            search_engines: Some(self.search_engines),
            language: change(self.language.trim(), "language", LanguageTag::parse, violations),
            background: Some(self.background),
            button_style: Some(self.button_style),
            font: Some(self.font),
            widgets,
        }
    }
}

fn text(value: Option<&str>) -> String {
    value.unwrap_or_default().to_owned()
}

fn change<T>(
    typed: &str,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, FieldError>,
    violations: &mut Violations,
) -> Change<T> {
    if typed.trim().is_empty() {
        return Change::Clear;
    }
    match parse(typed) {
        Ok(value) => Change::Set(value),
        Err(error) => {
            violations.push(error.at(name));
            Change::Keep
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(types: &[WidgetType]) -> PageForm {
        PageForm {
            widgets: types.iter().map(|of_type| WidgetForm::new(*of_type)).collect(),
            ..PageForm::default()
        }
    }

    #[test]
    fn buttons_name_what_they_do() {
        let mut page = form(&[WidgetType::Link, WidgetType::Text]);
        page.widgets[1].key = "w7".to_owned();
        for (text, action) in [
            ("", Action::Save),
            ("save", Action::Save),
            ("preview", Action::Preview),
            ("add-link", Action::Add(WidgetType::Link)),
            ("add-nothing", Action::Save),
            ("up-w7", Action::Up(1)),
            ("down-w7", Action::Down(1)),
            ("remove-w7", Action::Remove(1)),
            ("restore-w7", Action::Restore(1)),
            ("up-w8", Action::Save),
        ] {
            assert_eq!(Action::parse(text, &page), action, "{text}");
        }
    }

    #[test]
    fn widgets_move_within_the_list_and_stay_in_it_when_they_are_removed() {
        let types = |form: &PageForm| form.widgets.iter().map(|widget| widget.of_type).collect::<Vec<_>>();
        let (link, text) = (WidgetType::Link, WidgetType::Text);
        let mut page = form(&[link, text]);
        assert_eq!(page.arrange(Action::Up(0)), None);
        assert_eq!(page.arrange(Action::Down(1)), None);
        assert_eq!(page.arrange(Action::Up(9)), None);
        assert_eq!(page.arrange(Action::Down(usize::MAX)), None);
        assert_eq!(types(&page), [link, text]);
        assert_eq!(page.arrange(Action::Up(1)), Some(0));
        assert_eq!(types(&page), [text, link]);
        assert_eq!(page.arrange(Action::Remove(0)), Some(0));
        assert!(page.widgets[0].is_removed && page.widgets.len() == 2);
        assert_eq!(page.arrange(Action::Restore(0)), Some(0));
        assert!(!page.widgets[0].is_removed);
        assert_eq!(page.arrange(Action::Add(link)), Some(2));
    }
}
