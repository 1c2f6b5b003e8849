//! The two parameters that every list takes: `limit` and `cursor` (contract "GET /v1/domains").

use signpost_domain::{FieldError, PageLimit, PagePosition, ViolationCode};
use validator::{Validate, ValidationErrors};

use super::query_string::QueryString;
use crate::cursor::{CursorScope, MOST_CHARACTERS, SealedCursor, foreign_cursor};

/// The requested page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageQuery {
    /// `limit`
    pub(crate) limit: PageLimit,
    /// `cursor`, opened.
    pub(crate) after: Option<PagePosition>,
}

/// The two parameters in the form in which they were sent.
#[derive(Debug, Validate)]
struct PageShape {
    #[validate(range(min = 1, max = 100, code = "out_of_range", message = "must be from 1 to 100"))]
    limit: Option<i64>,
    #[validate(length(max = MOST_CHARACTERS, code = "too_long", message = "must have at most 512 characters"))]
    cursor: Option<String>,
}

impl PageQuery {
    /// Takes the two parameters. Violations go to `query`; the page is meaningless then.
    ///
    /// The caller must take the list's filter first and bind `scope` to it. If the filter is invalid, only the form of the
    /// cursor is checked.
    pub(crate) fn read(query: &mut QueryString, scope: &CursorScope) -> Self {
        let scope = query.is_valid().then_some(scope);
        let shape = PageShape { limit: query.read("limit", parse_integer), cursor: query.take("cursor") };
        let errors = shape.validate().err().unwrap_or_default();
        refuse_shapes(query, &errors);
        let PageShape { limit, cursor } = shape;
        let cursor = cursor.filter(|_| !errors.errors().contains_key("cursor"));
        let limit = limit.and_then(|limit| u64::try_from(limit).ok());
        Self {
            limit: limit.and_then(|limit| PageLimit::new(limit).ok()).unwrap_or_default(),
            after: cursor.and_then(|text| open(&text, query, scope)),
        }
    }
}

fn open(text: &str, query: &mut QueryString, scope: Option<&CursorScope>) -> Option<PagePosition> {
    let sealed = SealedCursor::parse(text);
    let position = sealed.and_then(|cursor| scope?.open(cursor));
    if sealed.is_none() || (position.is_none() && scope.is_some()) {
        query.refuse("cursor", foreign_cursor());
    }
    position
}

/// Adds the errors of the derived checks. Takes only their code and message: they also carry the rejected value, which must
/// not be repeated.
fn refuse_shapes(query: &mut QueryString, errors: &ValidationErrors) {
    for (field, errors) in errors.field_errors() {
        for error in errors {
            let code = ViolationCode::ALL.into_iter().find(|code| code.as_str() == error.code);
            let message = error.message.clone().unwrap_or("is not allowed".into());
            query.refuse(&field, FieldError::new(code.unwrap_or(ViolationCode::InvalidValue), message));
        }
    }
}

/// Parses `true` or `false`.
pub(crate) fn parse_boolean(text: &str) -> Result<bool, FieldError> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(FieldError::new(ViolationCode::InvalidValue, "must be true or false")),
    }
}

/// A decimal integer. Values beyond 64 bits are clamped, and stay outside every allowed range.
pub(crate) fn parse_integer(text: &str) -> Result<i64, FieldError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(FieldError::new(ViolationCode::InvalidType, "must be an integer"));
    }
    Ok(text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX }))
}

#[cfg(test)]
mod tests {
    use signpost_domain::AccountId;

    use super::*;

    fn scope() -> CursorScope {
        CursorScope::new(AccountId::from_bytes([7; 16]), "redirects")
    }

    fn read(query: &str) -> (u16, Option<PagePosition>, Vec<(String, &'static str)>) {
        let mut query = QueryString::parse(query);
        let PageQuery { limit, after } = PageQuery::read(&mut query, &scope());
        let violations = query.finish();
        let found = violations.iter().map(|each| (each.field().to_owned(), each.code().as_str())).collect();
        (limit.get(), after, found)
    }

    #[test]
    fn the_limit_is_1_to_100_and_25_by_default() {
        for (query, expected) in [("", 25), ("limit=1", 1), ("limit=100", 100), ("limit=007", 7)] {
            assert_eq!(read(query), (expected, None, vec![]), "{query}");
        }
    }

    #[test]
    fn d8_a_limit_of_the_wrong_type_differs_from_one_out_of_range() {
        for (value, code) in [
            ("", "invalid_type"),
            ("ten", "invalid_type"),
            ("5.0", "invalid_type"),
            ("%2B5", "invalid_type"),
            ("+5", "invalid_type"),
            ("1e1", "invalid_type"),
            ("٥", "invalid_type"),
            ("-", "invalid_type"),
            ("0", "out_of_range"),
            ("101", "out_of_range"),
            ("-1", "out_of_range"),
            ("99999999999999999999999", "out_of_range"),
            ("-99999999999999999999999", "out_of_range"),
        ] {
            let (_, _, found) = read(&format!("limit={value}"));
            assert_eq!(found, [("limit".to_owned(), code)], "{value}");
        }
    }

    #[test]
    fn d11_a_valid_cursor_is_opened_and_any_other_is_refused() {
        let position = PagePosition::behind([3; 16]);
        let good = scope().seal(position);
        assert_eq!(read(&format!("cursor={good}&limit=3")), (3, Some(position), vec![]));
        for (cursor, code) in [
            (String::new(), "invalid_format"),
            ("page-2".to_owned(), "invalid_format"),
            (scope().filtered_by("q", None).seal(position), "invalid_format"),
            ("A".repeat(512), "invalid_format"),
            ("A".repeat(513), "too_long"),
        ] {
            let (_, _, found) = read(&format!("cursor={cursor}"));
            assert_eq!(found, [("cursor".to_owned(), code)], "{cursor}");
        }
    }

    #[test]
    fn d8_all_violations_of_a_page_are_listed() {
        let foreign = scope().filtered_by("q", None).seal(PagePosition::behind([3; 16]));
        let (_, _, mut found) = read(&format!("limit=0&cursor={foreign}&page=2"));
        found.sort();
        let expected = [("cursor", "invalid_format"), ("limit", "out_of_range"), ("page", "unknown_field")];
        assert_eq!(found, expected.map(|(field, code)| (field.to_owned(), code)));
    }

    #[test]
    fn d11_an_invalid_filter_does_not_invalidate_the_cursor() {
        let mut query =
            QueryString::parse(&format!("cursor={}", scope().seal(PagePosition::behind([3; 16]))));
        query.refuse("is_active", FieldError::new(ViolationCode::InvalidValue, "must be true or false"));
        PageQuery::read(&mut query, &scope().filtered_by("is_active", None));
        assert_eq!(query.finish().iter().count(), 1);
    }
}
