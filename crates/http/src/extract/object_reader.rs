//! Reads an object field by field, so that one answer lists every violation (D8).

use std::borrow::Cow;

use signpost_domain::{Change, FieldError, ViolationCode, Violations};

use super::field::Field;
use super::field::shorten;
use super::value_readers::of_text;
use crate::schema::{AnySchema, Property, always, or_null, with_default};
use signpost_strict_json::{Json, JsonObject};

/// The action that a body requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The creation of a resource.
    Create,
    /// The creation of a resource, or the change of the one with the same external id (D121).
    Put,
    /// The change of an existing resource.
    Update,
}

/// Reads the fields of an object one by one and collects their violations. A field that is not read is unknown, which is a
/// violation too (D8).
///
/// The same code describes the object: [`properties`] runs it on an empty object and collects what it reads.
#[derive(Debug)]
pub(crate) struct ObjectReader<'a> {
    /// The prefix of the paths of the object's fields: nothing, or a path such as `geo_blocklists.`.
    prefix: String,
    members: Cow<'a, JsonObject>,
    /// The names of the fields that were read.
    known: Vec<&'static str>,
    violations: Violations,
    /// The properties of the fields that were read, if the schema is requested.
    described: Option<Vec<Property>>,
}

/// The properties of the object that `read` reads, for its schema.
pub(crate) fn properties(read: impl FnOnce(&mut ObjectReader<'_>)) -> Vec<Property> {
    let mut reader = ObjectReader { described: Some(vec![]), ..ObjectReader::new(JsonObject::new()) };
    read(&mut reader);
    reader.described.unwrap_or_default()
}

impl ObjectReader<'static> {
    /// A reader of a body.
    pub(crate) const fn new(members: JsonObject) -> Self {
        Self::at(String::new(), Cow::Owned(members))
    }

    /// The items of a field that [`values`](super::value_readers::values) accepted.
    pub(crate) fn into_items(self, name: &str) -> Vec<Json> {
        match self.members.into_owned().remove(name) {
            Some(Json::List(items)) => items,
            Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) | Json::Object(_)) | None => {
                vec![]
            }
        }
    }
}

impl<'a> ObjectReader<'a> {
    /// A reader of an item, whose paths begin at the item.
    pub(crate) const fn of_item(members: &'a JsonObject) -> Self {
        Self::at(String::new(), Cow::Borrowed(members))
    }

    /// A reader of an object within a body or an item, at a path.
    pub(super) fn nested(path: &str, members: &'a JsonObject) -> Self {
        Self::at(format!("{path}."), Cow::Borrowed(members))
    }

    const fn at(prefix: String, members: Cow<'a, JsonObject>) -> Self {
        Self { prefix, members, known: vec![], violations: Violations::new(), described: None }
    }

    /// A required field that cannot be null.
    pub(crate) fn required<T>(&mut self, field: impl Field<T>) -> Option<T> {
        let name = field.name();
        self.describe(&field, |schema| always(name, schema));
        match self.take(field) {
            Given::Value(value) => Some(value),
            Given::Invalid => None,
            Given::Absent => self.refuse(name, ViolationCode::Required, "is required"),
            Given::Null => self.refuse_null(name),
        }
    }

    /// An optional field that cannot be null.
    pub(crate) fn optional<T>(&mut self, field: impl Field<T>) -> Option<T> {
        let name = field.name();
        self.describe(&field, |schema| always(name, schema).or_absent());
        self.value_or_absent(field)
    }

    /// A field that creations require and updates do not. It cannot be null.
    pub(crate) fn required_to_create<T>(&mut self, action: Action, field: impl Field<T>) -> Option<T> {
        match action {
            Action::Create | Action::Put => self.required(field),
            Action::Update => self.optional(field),
        }
    }

    /// An optional field with a `default` in creations. It cannot be null.
    pub(crate) fn optional_or(
        &mut self,
        action: Action,
        default: bool,
        field: impl Field<bool>,
    ) -> Option<bool> {
        let name = field.name();
        let described = |schema| {
            let schema = match action {
                Action::Create => with_default(schema, default),
                // A link that exists keeps its value.
                Action::Put | Action::Update => schema,
            };
            always(name, schema).or_absent()
        };
        self.describe(&field, described);
        self.value_or_absent(field)
    }

    /// A field that may be absent or null. An invalid field counts as absent: a request with violations changes nothing.
    pub(crate) fn nullable<T>(&mut self, field: impl Field<T>) -> Change<T> {
        let name = field.name();
        self.describe(&field, |schema| always(name, or_null(schema)).or_absent());
        match self.take(field) {
            Given::Absent | Given::Invalid => Change::Keep,
            Given::Null => Change::Clear,
            Given::Value(value) => Change::Set(value),
        }
    }

    fn describe<T>(&mut self, field: &impl Field<T>, property: impl FnOnce(AnySchema) -> Property) {
        if let Some(described) = &mut self.described {
            described.push(property(field.schema()));
        }
    }

    fn take<T>(&mut self, field: impl Field<T>) -> Given<T> {
        let name = field.name();
        self.known.push(name);
        match self.members.get(name) {
            None => Given::Absent,
            Some(Json::Null) => Given::Null,
            Some(value) => {
                let path = format!("{}{name}", self.prefix);
                field.read(value, &path, &mut self.violations).map_or(Given::Invalid, Given::Value)
            }
        }
    }

    fn value_or_absent<T>(&mut self, field: impl Field<T>) -> Option<T> {
        let name = field.name();
        match self.take(field) {
            Given::Value(value) => Some(value),
            Given::Absent | Given::Invalid => None,
            Given::Null => self.refuse_null(name),
        }
    }

    fn refuse<T>(&mut self, name: &str, code: ViolationCode, message: &'static str) -> Option<T> {
        self.blame(name, FieldError::new(code, message));
        None
    }

    /// Adds a violation of a field, which follows from other fields.
    pub(crate) fn blame(&mut self, name: &str, error: FieldError) {
        self.violations.push(error.at(format!("{}{name}", self.prefix)));
    }

    fn refuse_null<T>(&mut self, name: &str) -> Option<T> {
        self.refuse(name, ViolationCode::NotNullable, "must not be null")
    }

    /// Accepts any value of a field.
    pub(crate) fn skip(&mut self, name: &'static str) {
        self.known.push(name);
    }

    /// All violations, including one for each field that was not read.
    pub(crate) fn finish(&mut self) -> Violations {
        let mut violations = std::mem::take(&mut self.violations);
        let prefix = &self.prefix;
        for (name, value) in self.members.iter().filter(|(name, _)| !self.known.contains(&name.as_str())) {
            violations.push_with(|| {
                let error = FieldError::new(ViolationCode::UnknownField, "is not a field of this request");
                of_text(error.at(format!("{prefix}{}", shorten(name))), value)
            });
        }
        violations
    }
}

/// A member of the object, before the rule about null is applied.
enum Given<T> {
    Absent,
    Null,
    Value(T),
    /// The violations are recorded.
    Invalid,
}

#[cfg(test)]
mod tests {
    use signpost_domain::{CountryCode, Name, Note};

    use super::*;
    use crate::extract::field::field;
    use crate::extract::value_readers::{FieldReader, boolean, object, text, texts};
    use crate::schema::string;

    /// A field whose schema does not matter.
    fn of<T>(name: &'static str, read: impl FieldReader<T>) -> impl Field<T> {
        field(name, read, || string(""))
    }

    fn reader(body: &str) -> ObjectReader<'static> {
        match signpost_strict_json::parse(body.as_bytes()).unwrap() {
            Json::Object(members) => ObjectReader::new(members),
            other => panic!("{other:?}"),
        }
    }

    fn found(mut reader: ObjectReader<'_>) -> Vec<(String, &'static str)> {
        reader.finish().iter().map(|each| (each.field().to_owned(), each.code().as_str())).collect()
    }

    #[test]
    fn d8_all_violations_of_a_body_are_listed_including_wrong_types() {
        let mut body = reader(r#"{"name":"","note":5,"active":"yes","nothing":null,"zzz":1,"aaa":{"b":1}}"#);
        assert_eq!(body.required(of("name", text(Name::parse))), None);
        assert_eq!(body.nullable(of("note", text(Note::parse))), Change::Keep);
        assert_eq!(body.optional(of("active", boolean())), None);
        assert_eq!(body.optional(of("nothing", boolean())), None);
        assert_eq!(body.required(of("target_url", text(Name::parse))), None);
        assert_eq!(
            found(body),
            [
                ("name".to_owned(), "too_short"),
                ("note".to_owned(), "invalid_type"),
                ("active".to_owned(), "invalid_type"),
                ("nothing".to_owned(), "not_nullable"),
                ("target_url".to_owned(), "required"),
                ("aaa".to_owned(), "unknown_field"),
                ("zzz".to_owned(), "unknown_field"),
            ]
        );
    }

    #[test]
    fn absent_null_and_a_value_are_distinct() {
        let mut body = reader(r#"{"null":null,"value":"x"}"#);
        assert_eq!(body.nullable(of("absent", text(Note::parse))), Change::Keep);
        assert_eq!(body.nullable(of("null", text(Note::parse))), Change::Clear);
        assert_eq!(body.nullable(of("value", text(Note::parse))), Change::Set(Note::parse("x").unwrap()));
        assert_eq!(found(body), []);
    }

    #[test]
    fn d8_paths_name_nested_fields_and_list_items() {
        let read = |object: &mut ObjectReader<'_>| {
            object.required(of("countries", texts(0..=3, CountryCode::parse)))
        };
        for (body, expected) in [
            (r#"{"geo":[]}"#, vec![("geo", "invalid_type")]),
            (r#"{"geo":{}}"#, vec![("geo.countries", "required")]),
            (r#"{"geo":{"countries":null}}"#, vec![("geo.countries", "not_nullable")]),
            (r#"{"geo":{"countries":"DE"}}"#, vec![("geo.countries", "invalid_type")]),
            (
                r#"{"geo":{"countries":["DE","??",7],"x":0}}"#,
                vec![
                    ("geo.countries[1]", "invalid_value"),
                    ("geo.countries[2]", "invalid_type"),
                    ("geo.x", "unknown_field"),
                ],
            ),
            (
                r#"{"geo":{"countries":["DE","??","AT","!!"]}}"#,
                vec![("geo.countries", "too_many_items"), ("geo.countries[1]", "invalid_value")],
            ),
        ] {
            let mut reader = reader(body);
            assert_eq!(reader.nullable(of("geo", object(read))), Change::Keep, "{body}");
            let expected: Vec<_> =
                expected.into_iter().map(|(field, code)| (field.to_owned(), code)).collect();
            assert_eq!(found(reader), expected, "{body}");
        }
    }

    #[test]
    fn long_names_of_unknown_fields_are_shortened() {
        let mut body = reader(&format!(r#"{{"{}":1}}"#, "x".repeat(100_000)));
        let violations = body.finish();
        assert!(violations.iter().all(|violation| violation.field().chars().count() == 101));
    }
}
