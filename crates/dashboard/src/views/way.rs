//! How redirects send their visitors on: a part of their forms (D132), and their rules in words (D133, D134).

use super::form::{Field, Select};

/// How visitors are sent on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WayForm {
    /// `redirect_status`
    pub redirect_status: Select,
    /// Whether it is another one than that of most redirects.
    pub is_unusual: bool,
    /// `forward_query`
    pub forward_query: bool,
    /// The parameters of a campaign.
    pub utm: Vec<UtmField>,
    /// Why all of them together were refused.
    pub utm_error: Option<String>,
}

/// An input for a parameter of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UtmField {
    /// The name of the input: `utm_source`.
    pub name: &'static str,
    /// The label.
    pub label: &'static str,
    /// What the parameter is for.
    pub hint: &'static str,
    /// The value.
    pub field: Field,
}

/// A rule of a redirect in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleRow {
    /// Its name.
    pub name: String,
    /// Its conditions, which all must hold.
    pub conditions: Vec<String>,
    /// Where it sends visitors. A split has several targets.
    pub targets: Vec<RuleTargetRow>,
}

/// A target of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleTargetRow {
    /// The name and the share of a variant of a split, such as `33.3 %`.
    pub variant: Option<(String, String)>,
    /// The URL.
    pub url: String,
}

impl WayForm {
    /// Whether one of the fields is set or refused, so that they are shown.
    pub(super) fn is_special(&self) -> bool {
        let Self { redirect_status, is_unusual, forward_query, utm, utm_error } = self;
        let is_set = |part: &UtmField| !part.field.value.is_empty() || part.field.error.is_some();
        *is_unusual
            || *forward_query
            || redirect_status.error.is_some()
            || utm_error.is_some()
            || utm.iter().any(is_set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_shown_once_one_of_them_says_something() {
        let plain = WayForm { utm: vec![UtmField::default()], ..WayForm::default() };
        assert!(!plain.is_special());
        let error = Some("Must not be empty.".to_owned());
        let refused = Field { error: error.clone(), ..Field::default() };
        let with_part =
            |field| WayForm { utm: vec![UtmField { field, ..UtmField::default() }], ..plain.clone() };
        for special in [
            WayForm { is_unusual: true, ..plain.clone() },
            WayForm { forward_query: true, ..plain.clone() },
            WayForm { redirect_status: Select { options: vec![], error: error.clone() }, ..plain.clone() },
            WayForm { utm_error: error, ..plain.clone() },
            with_part(Field::of("mail")),
            with_part(refused),
        ] {
            assert!(special.is_special(), "{special:?}");
        }
    }
}
