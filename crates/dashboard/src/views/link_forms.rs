//! The forms of links.

use askama::Template;
use signpost_domain::Theme;

use super::domains::Label;
use super::form::{Choice, Field, Form, Select, Violation, violations};
use super::life::{LifeForm, LimitForm};
use super::link_list::LinkKind;
use super::link_password::LinkPasswordForm;
use super::link_preview::{CardSketch, PreviewForm, PreviewInputs};
use super::shell::Shell;
use super::way::{RuleRow, WayForm};
use crate::texts::Texts;

/// A new link: `GET A/links/new?kind=…`. The form is sent to `A/links` with the hidden `kind`.
#[derive(Debug, Clone, Template)]
#[template(path = "new-link.html")]
pub struct NewLinkPage {
    /// The frame.
    pub shell: Shell,
    /// The form.
    pub form: Form,
    /// The fields.
    pub link: LinkForm,
}

impl NewLinkPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        self.link.violations(self.shell.t)
    }
}

/// A link: `GET` and `POST A/links/ID`.
#[derive(Debug, Clone, Template)]
#[template(path = "edit-link.html")]
pub struct EditLinkPage {
    /// The frame.
    pub shell: Shell,
    /// Whether the user may change it. Otherwise the fields are disabled.
    pub can_write: bool,
    /// The id.
    pub id: String,
    /// The name or title that is stored, for the heading.
    pub name: String,
    /// The form. After a stale edit its `revision` is the one of the stored version.
    pub form: Form,
    /// The fields.
    pub link: LinkForm,
    /// The public address.
    pub url: Option<String>,
    /// The public address as people read it: without scheme.
    pub short: String,
    /// The QR code of the public address: an SVG image that becomes a part of the page.
    pub qr: Option<String>,
    /// Whether it was just created. The page then says whether it is live.
    pub is_new: bool,
    /// Whether it opens now.
    pub is_live: bool,
    /// What it does now.
    pub state: Label,
    /// The clicks of the last 30 days, such as `1,204`.
    pub clicks: Option<String>,
    /// How many visits a redirect with a limit still sends on, such as `3 of 10`.
    pub clicks_left: Option<String>,
    /// Where its visitors are sent, if that is not the target of a redirect.
    pub final_url: Option<String>,
    /// The rules of a redirect, which send some visitors elsewhere.
    pub rules: Vec<RuleRow>,
    /// The card of a redirect.
    pub preview: Option<CardSketch>,
    /// The path of its statistics, if its visits are counted and the user may read the counts.
    pub statistics: Option<String>,
    /// When it was created, as people read it.
    pub created: String,
    /// When it was changed, as people read it.
    pub updated: String,
    /// The idempotency key of the form that deletes it.
    pub delete_key: String,
    /// Somebody else changed it meanwhile. `link` holds what was typed.
    pub conflict: Option<Conflict>,
}

impl EditLinkPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        self.link.violations(self.shell.t)
    }
}

/// The fields of one kind of link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkForm {
    /// A redirect.
    Redirect(Box<RedirectForm>),
    /// A landing page.
    Landing(Box<LandingForm>),
}

impl LinkForm {
    /// The kind of the link.
    #[must_use]
    pub const fn kind(&self) -> LinkKind {
        match self {
            Self::Redirect(_) => LinkKind::Redirect,
            Self::Landing(_) => LinkKind::Landing,
        }
    }

    const fn is_landing(&self) -> bool {
        matches!(self, Self::Landing(_))
    }

    /// The part that both kinds share.
    const fn life(&self) -> &LifeForm {
        match self {
            Self::Redirect(form) => &form.life,
            Self::Landing(form) => &form.life,
        }
    }

    /// The password, which both kinds share.
    const fn password(&self) -> &LinkPasswordForm {
        match self {
            Self::Redirect(form) => &form.password,
            Self::Landing(form) => &form.password,
        }
    }

    /// Whether the link has a start, an end, a limit or a fallback, or one was refused, so that they are shown.
    fn has_life(&self) -> bool {
        let is_limited = match self {
            Self::Redirect(form) => form.limit.is_special(),
            Self::Landing(_) => false,
        };
        is_limited || self.life().is_special()
    }

    fn violations(&self, t: &'static Texts) -> Vec<Violation<'_>> {
        match self {
            Self::Redirect(form) => {
                let before = [
                    ("target_url", t.target, &form.target_url.error),
                    ("domain", t.domain, &form.domain.error),
                    ("slug", t.slug, &form.slug.error),
                    ("name", t.name, &form.name.error),
                    ("group_id", t.group, &form.group.error),
                    ("tags", t.tags.title, &form.tags.error),
                    ("note", t.note, &form.note.error),
                    ("is_active", t.active, &form.is_active_error),
                    ("starts_at", t.life.starts_at, &form.life.starts_at.field.error),
                    ("expires_at", t.life.expires_at, &form.life.expires_at.field.error),
                    (
                        "max_clicks",
                        t.life.max_clicks,
                        form.limit.max_clicks.as_ref().map_or(&None, |field| &field.error),
                    ),
                    ("fallback_url", t.life.fallback_url, &form.life.fallback_url.error),
                    (
                        "link_password",
                        t.link_password.label,
                        form.password.input.as_ref().map_or(&None, |field| &field.error),
                    ),
                    ("redirect_status", t.life.redirect_status, &form.way.redirect_status.error),
                ];
                let utm = form.way.utm.iter().map(|part| (part.name, part.label, &part.field.error));
                let card = t.life.preview;
                let of_card = |input: fn(&PreviewInputs) -> &Field| {
                    form.preview.inputs.as_ref().map_or(&None, |inputs| &input(inputs).error)
                };
                let after = [
                    ("utm", t.life.utm, &form.way.utm_error),
                    ("preview_title", card.card_title, of_card(|inputs| &inputs.title)),
                    ("preview_description", card.card_description, of_card(|inputs| &inputs.description)),
                    ("preview_image_url", card.card_image_url, of_card(|inputs| &inputs.image_url)),
                    ("antibot_enabled", t.antibot, &form.antibot_error),
                    ("countries", t.countries, &form.countries.error),
                    ("pixel_ids", t.pixels, &form.pixels_error),
                ];
                violations(before.into_iter().chain(utm).chain(after))
            }
            Self::Landing(form) => violations([
                ("title", t.landing_title, &form.title.error),
                ("description", t.description, &form.description.error),
                ("domain", t.domain, &form.domain.error),
                ("slug", t.slug, &form.slug.error),
                ("group_id", t.group, &form.group.error),
                ("tags", t.tags.title, &form.tags.error),
                ("note", t.note, &form.note.error),
                ("theme", t.theme, &form.theme_error),
                ("language", t.editor.language, form.language.as_ref().map_or(&None, |field| &field.error)),
                ("starts_at", t.life.starts_at, &form.life.starts_at.field.error),
                ("expires_at", t.life.expires_at, &form.life.expires_at.field.error),
                ("fallback_url", t.life.fallback_url, &form.life.fallback_url.error),
                (
                    "link_password",
                    t.link_password.label,
                    form.password.input.as_ref().map_or(&None, |field| &field.error),
                ),
            ]),
        }
    }
}

/// The fields of a redirect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedirectForm {
    /// `target_url`
    pub target_url: Field,
    /// `slug`; empty for a generated one, or for the root of an own domain.
    pub slug: Field,
    /// `domain`: the system domain and the account's active domains.
    pub domain: Select,
    /// `name`; empty takes the target's host.
    pub name: Field,
    /// `note`
    pub note: Field,
    /// `group_id`; the choice with an empty value means no group.
    pub group: Select,
    /// `tags`: names, separated by commas.
    pub tags: Field,
    /// `tags_shown`: the tags as a form of an existing link was shown with them.
    pub tags_shown: Option<String>,
    /// `is_active`
    pub is_active: bool,
    /// Why `is_active` was refused.
    pub is_active_error: Option<String>,
    /// When the link works, and where it leads afterwards.
    pub life: LifeForm,
    /// How often it works.
    pub limit: LimitForm,
    /// What it asks its visitors for.
    pub password: LinkPasswordForm,
    /// How it sends its visitors on.
    pub way: WayForm,
    /// What link previewers show of it.
    pub preview: PreviewForm,
    /// `antibot_enabled`
    pub antibot_enabled: bool,
    /// Why `antibot_enabled` was refused.
    pub antibot_error: Option<String>,
    /// `analytics_enabled`, which only a creation sends: `None` leaves it out.
    pub analytics_enabled: Option<bool>,
    /// `countries`: codes, separated by commas.
    pub countries: Field,
    /// `pixel_ids`: checkboxes.
    pub pixels: Vec<Choice>,
    /// Why `pixel_ids` was refused.
    pub pixels_error: Option<String>,
}

impl RedirectForm {
    /// Whether one of the rarer fields is set or refused, so that they are shown.
    fn is_special(&self) -> bool {
        self.antibot_enabled
            || self.antibot_error.is_some()
            || self.analytics_enabled == Some(false)
            || !self.countries.value.is_empty()
            || self.countries.error.is_some()
            || self.pixels.iter().any(|pixel| pixel.selected)
            || self.pixels_error.is_some()
    }
}

/// The fields of a landing page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LandingForm {
    /// `title`
    pub title: Field,
    /// `description`
    pub description: Field,
    /// `slug`
    pub slug: Field,
    /// `domain`
    pub domain: Select,
    /// `note`
    pub note: Field,
    /// `group_id`
    pub group: Select,
    /// `tags`
    pub tags: Field,
    /// `tags_shown`
    pub tags_shown: Option<String>,
    /// `is_active`
    pub is_active: bool,
    /// When the page opens, and where its address leads afterwards.
    pub life: LifeForm,
    /// What it asks its visitors for.
    pub password: LinkPasswordForm,
    /// `theme`
    pub theme: Theme,
    /// Why `theme` was refused.
    pub theme_error: Option<String>,
    /// `language`, which only a creation sends: `None` leaves it out.
    pub language: Option<Field>,
    /// `analytics_enabled`, which only a creation sends: `None` leaves it out.
    pub analytics_enabled: Option<bool>,
}

/// A refused edit: the stored version changed after the form was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conflict {
    /// When the stored version was saved, as people read it.
    pub saved: String,
    /// The fields in which the two versions differ.
    pub fields: Vec<ConflictField>,
}

/// A field in which two versions differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConflictField {
    /// The label.
    pub label: String,
    /// The value in the refused edit. Empty shows as `nothing`.
    pub yours: String,
    /// The stored value.
    pub theirs: String,
}
