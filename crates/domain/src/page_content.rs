//! The content of a landing page (D34).

use crate::change::Change;
use crate::host_blocklist::HostBlocklist;
use crate::id::WidgetId;
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
    /// `widgets`
    pub widgets: Widgets,
}

/// Whether a page is light or dark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// `light`
    Light,
    /// `dark`
    Dark,
    /// `auto`: the setting of the visitor's device.
    #[default]
    Auto,
}

impl Theme {
    /// Every theme.
    pub const ALL: [Self; 3] = [Self::Light, Self::Dark, Self::Auto];

    /// The name in requests and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
            Self::Auto => "auto",
        }
    }

    /// The theme of this name.
    ///
    /// # Errors
    /// `invalid_value`.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::named(text)
            .ok_or_else(|| FieldError::new(ViolationCode::InvalidValue, "must be one of light, dark, auto"))
    }

    /// Reads a stored theme.
    pub fn from_stored(text: &str) -> Result<Self, MalformedStored> {
        Self::named(text).ok_or(MalformedStored("is not a theme"))
    }

    fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.as_str() == text)
    }
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
        let PageContentRequest { description, avatar_url, theme, accent_color, search_engines, widgets } =
            patch;
        Self {
            description: description.applied_to(self.description.clone()),
            avatar_url: avatar_url.applied_to(self.avatar_url.clone()),
            theme: theme.unwrap_or(self.theme),
            accent_color: accent_color.applied_to(self.accent_color.clone()),
            search_engines: search_engines.unwrap_or(self.search_engines),
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
        if let Some((field, url)) = widget.content.leads_to()
            && blocklist.contains(url.host())
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
