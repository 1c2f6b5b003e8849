//! The content of a landing page (D34).

use crate::change::Change;
use crate::host_blocklist::HostBlocklist;
use crate::id::WidgetId;
use crate::language_tag::LanguageTag;
use crate::page_appearance::{Background, ButtonStyle, Font, Theme};
use crate::page_text::Description;
use crate::stored::MalformedStored;
use crate::violation::{FieldError, ViolationCode, Violations};
use crate::web_url::WebUrl;
use crate::widget::{WidgetDraft, Widgets};

/// The content of a landing page, without its title. The default is an empty page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageContent {
    /// `description`
    pub description: Option<Description>,
    /// `avatar_url`: a picture at the top.
    pub avatar_url: Option<WebUrl>,
    /// `theme`
    pub theme: Theme,
    /// `accent_color`
    pub accent_color: Option<AccentColor>,
    /// `search_engines`: whether search engines may list the page.
    pub search_engines: bool,
    /// `language`: the language of its texts, if known.
    pub language: Option<LanguageTag>,
    /// `background`
    pub background: Background,
    /// `button_style`
    pub button_style: ButtonStyle,
    /// `font`
    pub font: Font,
    /// `widgets`
    pub widgets: Widgets,
}

/// A colour, as `#rrggbb` in lower case.
///
/// ```
/// use signpost_domain::AccentColor;
///
/// assert_eq!(AccentColor::parse("#FFaa00").unwrap().as_str(), "#ffaa00");
/// assert!(AccentColor::parse("red").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccentColor(String);

impl AccentColor {
    /// Reads a colour. Letter case does not matter.
    ///
    /// # Errors
    /// `invalid_format`.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let digits = text.strip_prefix('#').unwrap_or_default();
        if digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err(FieldError::new(ViolationCode::InvalidFormat, "must be a colour such as #1a2b3c"))
    }

    /// Reads a stored colour, with the same rule, because it becomes part of a style sheet.
    pub fn from_stored(text: &str) -> Result<Self, MalformedStored> {
        Self::parse(text).map_err(|_| MalformedStored("is not a colour"))
    }

    /// The colour of these channels.
    #[must_use]
    pub fn from_channels(red: u8, green: u8, blue: u8) -> Self {
        Self(format!("#{red:02x}{green:02x}{blue:02x}"))
    }

    /// The colour.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The changes of a request to a page, which is empty in a creation. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageContentRequest {
    /// `description`
    pub description: Change<Description>,
    /// `avatar_url`
    pub avatar_url: Change<WebUrl>,
    /// `theme`
    pub theme: Option<Theme>,
    /// `accent_color`
    pub accent_color: Change<AccentColor>,
    /// `search_engines`
    pub search_engines: Option<bool>,
    /// `language`
    pub language: Change<LanguageTag>,
    /// `background`
    pub background: Option<Background>,
    /// `button_style`
    pub button_style: Option<ButtonStyle>,
    /// `font`
    pub font: Option<Font>,
    /// `widgets`: replaces the whole list.
    pub widgets: Option<Vec<WidgetDraft>>,
}

impl PageContentRequest {
    /// Whether it changes nothing on any page.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl PageContent {
    /// The content after `patch`. New widgets get their ids from `new_widget_id`.
    #[must_use]
    pub fn apply(&self, patch: PageContentRequest, new_widget_id: impl FnMut() -> WidgetId) -> Self {
        let PageContentRequest {
            description,
            avatar_url,
            theme,
            accent_color,
            search_engines,
            language,
            background,
            button_style,
            font,
            widgets,
        } = patch;
        Self {
            description: description.applied_to(self.description.clone()),
            avatar_url: avatar_url.applied_to(self.avatar_url.clone()),
            theme: theme.unwrap_or(self.theme),
            accent_color: accent_color.applied_to(self.accent_color.clone()),
            search_engines: search_engines.unwrap_or(self.search_engines),
            language: language.applied_to(self.language.clone()),
            background: background.unwrap_or(self.background),
            button_style: button_style.unwrap_or(self.button_style),
            font: font.unwrap_or(self.font),
            widgets: match widgets {
                None => self.widgets.clone(),
                Some(drafts) => self.widgets.replaced_by(drafts, new_widget_id),
            },
        }
    }
}

/// The violations that depend on the operator's blocklist: no widget may lead to a blocked host (D24).
#[must_use]
pub fn violations_of(patch: &PageContentRequest, blocklist: &HostBlocklist) -> Violations {
    let mut violations = Violations::new();
    for (index, widget) in patch.widgets.iter().flatten().enumerate() {
        if let Some((field, host)) = widget.content.target_host()
            && blocklist.contains(host)
        {
            let error =
                FieldError::new(ViolationCode::InvalidValue, "points at a host that may not be a target");
            violations.push(error.at(format!("widgets[{index}].{field}")));
        }
    }
    violations
}

#[cfg(test)]
#[path = "page_content_tests.rs"]
pub(crate) mod tests;
