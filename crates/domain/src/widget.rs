//! What a landing page consists of (D35).

use crate::email::Email;
use crate::id::{WidgetId, WidgetKind};
use crate::page_text::{AltText, SocialNetwork, WidgetText};
use crate::reference::IdReference;
use crate::stored::{self, MalformedStored};
use crate::text::Name;
use crate::violation::{FieldError, ViolationCode};
use crate::web_url::{VideoUrl, WebUrl};

/// One piece of a landing page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widget {
    /// Its id.
    pub id: WidgetId,
    /// What it is.
    pub body: WidgetBody,
}

/// What a widget is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WidgetBody {
    /// One of the types that this version knows.
    Known(WidgetContent),
    /// One that a newer version has written. It is shown and kept, untouched.
    Unknown(UnknownWidget),
}

/// A widget of a type that this version does not know: the fields that it has, without its id and without `object`,
/// which every widget has alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWidget(String);

impl UnknownWidget {
    pub(crate) const fn from_json(object: String) -> Self {
        Self(object)
    }

    /// The fields, as a JSON object; `type` is among them, `id` and `object` are not.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// A widget of a type that this version knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WidgetContent {
    /// `link`: a button that leads elsewhere.
    Link {
        /// `title`
        title: Name,
        /// `url`
        url: WebUrl,
        /// `thumbnail_url`
        thumbnail_url: Option<WebUrl>,
    },
    /// `heading`
    Heading {
        /// `text`
        text: Name,
    },
    /// `text`: a paragraph.
    Text {
        /// `text`
        text: WidgetText,
    },
    /// `image`
    Image {
        /// `image_url`
        image_url: WebUrl,
        /// `alt`
        alt: AltText,
        /// `url`: where a click on it leads.
        url: Option<WebUrl>,
    },
    /// `social`: an account on a social network.
    Social {
        /// `network`
        network: SocialNetwork,
        /// `url`
        url: WebUrl,
    },
    /// `video`
    Video {
        /// `url`
        url: VideoUrl,
    },
    /// `email`
    Email {
        /// `address`
        address: Email,
        /// `title`
        title: Option<Name>,
    },
    /// `divider`
    Divider,
}

impl WidgetContent {
    /// The names of the types.
    pub const TYPES: [&'static str; 8] =
        ["link", "heading", "text", "image", "social", "video", "email", "divider"];

    /// The name of its type.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Link { .. } => "link",
            Self::Heading { .. } => "heading",
            Self::Text { .. } => "text",
            Self::Image { .. } => "image",
            Self::Social { .. } => "social",
            Self::Video { .. } => "video",
            Self::Email { .. } => "email",
            Self::Divider => "divider",
        }
    }

    /// Where its visitors are led, and the field that says so.
    #[must_use]
    pub const fn leads_to(&self) -> Option<(&'static str, &WebUrl)> {
        match self {
            Self::Link { url, .. } | Self::Social { url, .. } | Self::Image { url: Some(url), .. } => {
                Some(("url", url))
            }
            Self::Video { url } => Some(("url", url.as_web_url())),
            Self::Image { url: None, .. }
            | Self::Heading { .. }
            | Self::Text { .. }
            | Self::Email { .. }
            | Self::Divider => None,
        }
    }
}

/// A widget that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WidgetDraft {
    /// `id`: that of a widget of the page, which so keeps it; any other is as good as none.
    pub id: Option<IdReference<WidgetKind>>,
    /// What it is.
    pub content: WidgetContent,
}

/// The widgets of a page, in their order: at most 100 (D34).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Widgets(Vec<Widget>);

impl Widgets {
    /// How many a page may have.
    pub const MAX: usize = 100;

    /// These widgets.
    ///
    /// # Errors
    /// `too_many_items` beyond [`Self::MAX`].
    pub fn new(widgets: Vec<Widget>) -> Result<Self, FieldError> {
        if widgets.len() > Self::MAX {
            return Err(FieldError::new(ViolationCode::TooManyItems, "must have at most 100 items"));
        }
        Ok(Self(widgets))
    }

    /// The widgets that our own store has, perhaps more than the rule of the day allows.
    pub fn from_stored(widgets: Vec<Widget>) -> Result<Self, MalformedStored> {
        stored::items(widgets).map(Self)
    }

    /// The widgets, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[Widget] {
        &self.0
    }

    /// The list that `drafts` make of this one. The first draft with the id of a widget that stands here keeps that id;
    /// every other widget gets one from `new_id` (D34). Drafts beyond [`Self::MAX`] are left out: whoever reads a request
    /// refuses them.
    #[must_use]
    pub(crate) fn replaced_by(&self, drafts: Vec<WidgetDraft>, mut new_id: impl FnMut() -> WidgetId) -> Self {
        let mut to_keep: Vec<WidgetId> = self.0.iter().map(|widget| widget.id).collect();
        let mut id_of = |asked: Option<IdReference<WidgetKind>>| {
            let asked = asked.and_then(IdReference::id)?;
            let place = to_keep.iter().position(|kept| *kept == asked)?;
            Some(to_keep.swap_remove(place))
        };
        let widgets = drafts.into_iter().take(Self::MAX).map(|WidgetDraft { id, content }| Widget {
            id: id_of(id).unwrap_or_else(&mut new_id),
            body: WidgetBody::Known(content),
        });
        Self(widgets.collect())
    }
}
