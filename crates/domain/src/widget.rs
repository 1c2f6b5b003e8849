//! The widgets of a landing page (D35).

use crate::contact::{ContactMethod, PhoneNumber};
use crate::email::Email;
use crate::id::{WidgetId, WidgetKind};
use crate::page_text::{AltText, SocialNetwork, WidgetText};
use crate::reference::IdReference;
use crate::stored::{self, MalformedStored};
use crate::text::Name;
use crate::violation::{FieldError, ViolationCode};
use crate::web_url::{VideoUrl, WebUrl};

/// A widget of a landing page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widget {
    /// Its id.
    pub id: WidgetId,
    /// Its content.
    pub body: WidgetBody,
}

/// The content of a widget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WidgetBody {
    /// A type that this version knows.
    Known(WidgetContent),
    /// A type that only a newer version knows. It is shown and kept unchanged.
    Unknown(UnknownWidget),
}

/// A widget of a type that this version does not know: its fields without `id` and `object`, which all
/// widgets have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWidget(String);

impl UnknownWidget {
    #[cfg(feature = "json")]
    pub(crate) const fn from_json(object: String) -> Self {
        Self(object)
    }

    /// The fields as a JSON object, with `type`, but without `id` and `object`.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

/// A widget of a type that this version knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WidgetContent {
    /// `link`: a button that links to a URL.
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
        /// `url`: the target of a click on the image.
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
        /// `title`
        title: Option<Name>,
        /// `thumbnail_url`: a still of the video.
        thumbnail_url: Option<WebUrl>,
    },
    /// `email`
    Email {
        /// `address`
        address: Email,
        /// `title`
        title: Option<Name>,
    },
    /// `contact`: a button that calls a number, or writes to it.
    Contact {
        /// `method`
        method: ContactMethod,
        /// `number`
        number: PhoneNumber,
        /// `title`
        title: Option<Name>,
    },
    /// `divider`
    Divider,
}

impl WidgetContent {
    /// The names of all types.
    pub const TYPES: [&'static str; 9] =
        ["link", "heading", "text", "image", "social", "video", "email", "contact", "divider"];

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
            Self::Contact { .. } => "contact",
            Self::Divider => "divider",
        }
    }

    /// The URL that visitors are sent to, and the name of its field.
    #[must_use]
    pub const fn leads_to(&self) -> Option<(&'static str, &WebUrl)> {
        match self {
            Self::Link { url, .. } | Self::Social { url, .. } | Self::Image { url: Some(url), .. } => {
                Some(("url", url))
            }
            Self::Video { url, .. } => Some(("url", url.as_web_url())),
            Self::Image { url: None, .. }
            | Self::Heading { .. }
            | Self::Text { .. }
            | Self::Email { .. }
            | Self::Contact { .. }
            | Self::Divider => None,
        }
    }

    /// The host that a click on it opens, and the name of the field that says so.
    #[must_use]
    pub fn target_host(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Contact { method, .. } => method.host().map(|host| ("method", host)),
            Self::Link { .. }
            | Self::Heading { .. }
            | Self::Text { .. }
            | Self::Image { .. }
            | Self::Social { .. }
            | Self::Video { .. }
            | Self::Email { .. }
            | Self::Divider => self.leads_to().map(|(field, url)| (field, url.host())),
        }
    }
}

/// A widget in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WidgetDraft {
    /// `id`: the id of an existing widget of the page, which then keeps it. Any other id is ignored.
    pub id: Option<IdReference<WidgetKind>>,
    /// Its content.
    pub content: WidgetContent,
}

/// The widgets of a page, in order: at most 100 (D34).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Widgets(Vec<Widget>);

impl Widgets {
    /// The maximum number of widgets.
    pub const MAX: usize = 100;

    /// These widgets.
    ///
    /// # Errors
    /// `too_many_items` above [`Self::MAX`].
    pub fn new(widgets: Vec<Widget>) -> Result<Self, FieldError> {
        if widgets.len() > Self::MAX {
            return Err(FieldError::new(ViolationCode::TooManyItems, "must have at most 100 items"));
        }
        Ok(Self(widgets))
    }

    /// Stored widgets, perhaps more than the current rule allows.
    pub fn from_stored(widgets: Vec<Widget>) -> Result<Self, MalformedStored> {
        stored::items(widgets).map(Self)
    }

    /// The widgets, in order.
    #[must_use]
    pub fn as_slice(&self) -> &[Widget] {
        &self.0
    }

    /// The new list that `drafts` make of this one. The first draft with the id of an existing widget keeps
    /// that id; all other widgets get an id from `new_id` (D34). Drafts above [`Self::MAX`] are dropped,
    /// because the reader of the request refuses them.
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
