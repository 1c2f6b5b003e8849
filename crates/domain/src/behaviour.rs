//! What a link does with its visitors, in the form in which stores keep it (ADR 81).
//!
//! The form is a JSON object. Fields without a value are omitted, and a plain link has no text at all.

use serde_json::{Map, Value};

use crate::target_url::TargetUrl;

/// The fields of a link that only its visits need and that no list filters by, apart from those with columns of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// Where visitors are sent once the link has ended (D128).
    pub fallback_url: Option<TargetUrl>,
}

/// The stored text is not the behaviour of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the behaviour of a link")]
pub struct MalformedBehaviour;

impl Behaviour {
    /// The stored form; `None` for a plain link.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        let Self { fallback_url } = self;
        let mut fields = Map::new();
        if let Some(url) = fallback_url {
            fields.insert("fallback_url".to_owned(), url.as_str().into());
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
                _ => return Err(MalformedBehaviour),
            }
        }
        Ok(behaviour)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_link_has_no_text_and_a_fallback_reads_back() {
        assert_eq!(Behaviour::default().to_json(), None);
        for url in ["https://example.com/over", "https://good.example/\"onload=x"] {
            let behaviour = Behaviour { fallback_url: TargetUrl::parse(url).ok() };
            assert!(behaviour.fallback_url.is_some(), "{url}");
            let json = behaviour.to_json().unwrap();
            assert_eq!(Behaviour::from_json(&json), Ok(behaviour), "{json}");
        }
    }

    /// Rows of today must stay readable for ever.
    #[test]
    fn the_stored_form_never_changes() {
        let fallback_url = TargetUrl::parse("https://example.com/over").ok();
        let json = r#"{"fallback_url":"https://example.com/over"}"#;
        assert_eq!(Behaviour { fallback_url }.to_json().as_deref(), Some(json));
        assert_eq!(Behaviour::from_json("{}"), Ok(Behaviour::default()));
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
            r#"{"fallback_url":"javascript:alert(1)"}"#,
            r#"{"fallback_url":"https://example.com/","redirect_status":301}"#,
        ] {
            assert_eq!(Behaviour::from_json(json), Err(MalformedBehaviour), "{json}");
        }
    }
}
