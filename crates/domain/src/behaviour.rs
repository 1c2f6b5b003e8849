//! What a link does with its visitors, in the form in which stores keep it (ADR 81).
//!
//! The form is a JSON object. Fields without a value are omitted, and a plain link has no text at all.

use serde_json::{Map, Value};

use crate::link_password::LinkPassword;
use crate::link_preview::{LinkPreview, PreviewTitle};
use crate::page_text::Description;
use crate::routing::Rules;
use crate::target_url::TargetUrl;
use crate::utm::{Utm, UtmPart, UtmValue};
use crate::way::{RedirectStatus, Way};
use crate::web_url::WebUrl;

/// The fields of a link that only its visits need and that no list filters by, apart from those with columns of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// Where visitors are sent once the link has ended (D128).
    pub fallback_url: Option<TargetUrl>,
    /// How a redirect sends its visitors on (D132). Landing pages have the default.
    pub way: Way,
    /// Whether the link has a limit of clicks (D128). The limit is stored elsewhere: this keeps versions that do not know it from
    /// sending visitors on without one (ADR 85).
    pub is_limited: bool,
    /// Whether visitors are asked for a password (D131). Its hash is stored elsewhere and read only when a visitor has typed one.
    pub has_password: bool,
    /// Which visitors of a redirect are sent elsewhere (D133). Landing pages have none.
    pub rules: Rules,
    /// The card that link previewers get (D135). Landing pages have none.
    pub preview: Option<LinkPreview>,
}

/// The stored text is not the behaviour of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the behaviour of a link")]
pub struct MalformedBehaviour;

impl Behaviour {
    /// The stored form; `None` for a plain link.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        let Self { fallback_url, way, is_limited, has_password, rules, preview } = self;
        let Way { redirect_status, forward_query, utm } = way;
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        if let Some(url) = fallback_url {
            put("fallback_url", url.as_str().into());
        }
        if *redirect_status != RedirectStatus::default() {
            put(RedirectStatus::FIELD, redirect_status.code().into());
        }
        if *forward_query {
            put(Way::FORWARD_QUERY, true.into());
        }
        if !utm.is_empty() {
            let values =
                utm.iter().map(|(part, value)| (part.as_str().to_owned(), Value::from(value.as_str())));
            put(Utm::FIELD, Value::Object(values.collect()));
        }
        if *is_limited {
            put("is_limited", true.into());
        }
        if *has_password {
            put(LinkPassword::SHOWN_FIELD, true.into());
        }
        if !rules.is_empty() {
            put(Rules::FIELD, rules.to_stored());
        }
        if let Some(preview) = preview {
            put(LinkPreview::FIELD, stored_preview(preview));
        }
        (!fields.is_empty()).then(|| Value::Object(fields).to_string())
    }

    /// Reads the stored form.
    ///
    /// # Errors
    /// The text is not a JSON object of this form, or a value is not safe to use. A field that this version does not know is an
    /// error too: without it, the link would do something else than its owner asked for, and the next change would erase it.
    pub fn from_json(json: &str) -> Result<Self, MalformedBehaviour> {
        let fields: Map<String, Value> = serde_json::from_str(json).map_err(|_| MalformedBehaviour)?;
        let mut behaviour = Self::default();
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("fallback_url", Value::String(url)) => {
                    let url = TargetUrl::from_stored(url).map_err(|_| MalformedBehaviour)?;
                    behaviour.fallback_url = Some(url);
                }
                (RedirectStatus::FIELD, Value::Number(code)) => {
                    let status = code.as_i64().and_then(|code| RedirectStatus::parse(code).ok());
                    behaviour.way.redirect_status = status.ok_or(MalformedBehaviour)?;
                }
                (Way::FORWARD_QUERY, Value::Bool(forwards)) => behaviour.way.forward_query = forwards,
                (Utm::FIELD, Value::Object(values)) => behaviour.way.utm = utm_from(values)?,
                ("is_limited", Value::Bool(true)) => behaviour.is_limited = true,
                (LinkPassword::SHOWN_FIELD, Value::Bool(true)) => behaviour.has_password = true,
                (Rules::FIELD, Value::Object(rules)) => {
                    behaviour.rules = Rules::from_stored_json(rules).map_err(|_| MalformedBehaviour)?;
                }
                (LinkPreview::FIELD, Value::Object(parts)) => behaviour.preview = Some(preview_from(parts)?),
                _ => return Err(MalformedBehaviour),
            }
        }
        Ok(behaviour)
    }
}

fn utm_from(mut values: Map<String, Value>) -> Result<Utm, MalformedBehaviour> {
    let mut is_malformed = false;
    let utm = Utm::new(|part: UtmPart| {
        let value = match values.remove(part.as_str())? {
            Value::String(value) => UtmValue::from_stored(value).ok(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        is_malformed |= value.is_none();
        value
    });
    if is_malformed || !values.is_empty() { Err(MalformedBehaviour) } else { Ok(utm) }
}

fn stored_preview(preview: &LinkPreview) -> Value {
    let parts = [
        (LinkPreview::TITLE, Some(preview.title().as_str())),
        (LinkPreview::DESCRIPTION, preview.description().map(Description::as_str)),
        (LinkPreview::IMAGE_URL, preview.image_url().map(WebUrl::as_str)),
    ];
    let parts = parts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Value::from(text?))));
    Value::Object(parts.collect())
}

fn preview_from(parts: Map<String, Value>) -> Result<LinkPreview, MalformedBehaviour> {
    let (mut title, mut description, mut image_url) = (None, None, None);
    for (name, value) in parts {
        let Value::String(text) = value else { return Err(MalformedBehaviour) };
        let is_safe = match name.as_str() {
            LinkPreview::TITLE => PreviewTitle::from_stored(text).map(|read| title = Some(read)),
            LinkPreview::DESCRIPTION => Description::from_stored(text).map(|read| description = Some(read)),
            LinkPreview::IMAGE_URL => WebUrl::from_stored(text).map(|read| image_url = Some(read)),
            _ => return Err(MalformedBehaviour),
        };
        is_safe.map_err(|_| MalformedBehaviour)?;
    }
    Ok(LinkPreview::new(title.ok_or(MalformedBehaviour)?, description, image_url))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::link_preview::tests::any_preview;
    use crate::routing::samples::any_rules;
    use crate::way::tests::any_way;

    fn fallback(url: &str) -> Behaviour {
        Behaviour { fallback_url: TargetUrl::parse(url).ok(), ..Behaviour::default() }
    }

    #[test]
    fn a_plain_link_has_no_text_and_a_fallback_reads_back() {
        assert_eq!(Behaviour::default().to_json(), None);
        for url in ["https://example.com/over", "https://good.example/\"onload=x"] {
            let behaviour = fallback(url);
            assert!(behaviour.fallback_url.is_some(), "{url}");
            let json = behaviour.to_json().unwrap();
            assert_eq!(Behaviour::from_json(&json), Ok(behaviour), "{json}");
        }
    }

    /// Rows of today must stay readable for ever.
    #[test]
    fn the_stored_form_never_changes() {
        let json = r#"{"fallback_url":"https://example.com/over"}"#;
        assert_eq!(fallback("https://example.com/over").to_json().as_deref(), Some(json));
        let limited = Behaviour { is_limited: true, ..Behaviour::default() };
        assert_eq!(limited.to_json().as_deref(), Some(r#"{"is_limited":true}"#));
        let closed = Behaviour { has_password: true, ..Behaviour::default() };
        assert_eq!(closed.to_json().as_deref(), Some(r#"{"has_password":true}"#));
        assert_eq!(Behaviour::from_json("{}"), Ok(Behaviour::default()));
        let utm = Utm::new(|part| {
            UtmValue::parse("Spring sale").ok().filter(|_| matches!(part, UtmPart::Source | UtmPart::Term))
        });
        let way = Way { redirect_status: RedirectStatus::TemporaryRedirect, forward_query: true, utm };
        let preview = LinkPreview::new(
            PreviewTitle::parse("Spring").unwrap(),
            Description::parse("two\nlines").ok(),
            WebUrl::parse("https://img.example/a.png").ok(),
        );
        let json = r#"{"preview":{"description":"two\nlines","image_url":"https://img.example/a.png","title":"Spring"}}"#;
        let card = Behaviour { preview: Some(preview), ..Behaviour::default() };
        assert_eq!(Behaviour::from_json(json), Ok(card.clone()));
        is_written_as(&card, json);
        let json = r#"{"forward_query":true,"redirect_status":307,"utm":{"source":"Spring sale","term":"Spring sale"}}"#;
        let behaviour = Behaviour { way, ..Behaviour::default() };
        assert_eq!(Behaviour::from_json(json), Ok(behaviour.clone()));
        is_written_as(&behaviour, json);
    }

    /// In any order of fields.
    fn is_written_as(behaviour: &Behaviour, json: &str) {
        let written: Value = serde_json::from_str(&behaviour.to_json().unwrap()).unwrap();
        assert_eq!(written, serde_json::from_str::<Value>(json).unwrap());
    }

    /// ADR 35, ADR 81: what a node does not know, it must not ignore.
    #[test]
    fn unsafe_values_and_unknown_fields_are_refused() {
        for json in [
            "",
            "null",
            "[]",
            "{",
            r#"{"fallback_url":null}"#,
            r#"{"fallback_url":7}"#,
            r#"{"is_limited":false}"#,
            r#"{"has_password":false}"#,
            r#"{"has_password":"mint"}"#,
            r#"{"rules":[]}"#,
            r#"{"rules":{}}"#,
            r#"{"rules":{"key":"000102030405060708090a0b0c0d0e0f","list":[]}}"#,
            r#"{"fallback_url":"javascript:alert(1)"}"#,
            r#"{"fallback_url":"https://example.com/","password":"x"}"#,
            r#"{"redirect_status":303}"#,
            r#"{"redirect_status":"301"}"#,
            r#"{"redirect_status":301.5}"#,
            r#"{"forward_query":1}"#,
            r#"{"utm":null}"#,
            r#"{"utm":{"source":""}}"#,
            r#"{"utm":{"source":null}}"#,
            r#"{"utm":{"source":"a\r\nb"}}"#,
            r#"{"utm":{"source":"a","id":"b"}}"#,
            r#"{"preview":null}"#,
            r#"{"preview":"Sale"}"#,
            r#"{"preview":{}}"#,
            r#"{"preview":{"title":""}}"#,
            r#"{"preview":{"title":"a\nb"}}"#,
            r#"{"preview":{"title":7}}"#,
            r#"{"preview":{"description":"a"}}"#,
            r#"{"preview":{"title":"a","description":null}}"#,
            r#"{"preview":{"title":"a","image_url":"javascript:alert(1)"}}"#,
            r#"{"preview":{"title":"a","video_url":"https://example.com/"}}"#,
        ] {
            assert_eq!(Behaviour::from_json(json), Err(MalformedBehaviour), "{json}");
        }
    }

    proptest! {
        #[test]
        fn d130_to_d135_every_way_limit_password_rule_and_card_reads_back(
            way in any_way(),
            is_limited: bool,
            has_password: bool,
            rules in any_rules(),
            preview in proptest::option::of(any_preview()),
        ) {
            let behaviour = Behaviour { way, is_limited, has_password, rules, preview, ..Behaviour::default() };
            let read = behaviour.to_json().map(|json| Behaviour::from_json(&json));
            prop_assert_eq!(read.unwrap_or_else(|| Ok(Behaviour::default())), Ok(behaviour));
        }
    }
}
