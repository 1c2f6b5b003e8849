//! Reads an object field by field, so that one answer lists every violation (D8).

use std::borrow::Cow;
use std::ops::RangeInclusive;

use signpost_domain::{Change, FieldError, ViolationCode, Violations};

use super::field::Field;
use super::field::shorten;
use crate::schema::{AnySchema, Property, always, or_null, with_default};
use signpost_strict_json::{Json, JsonObject};

/// The action that a body requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The creation of a resource.
    Create,
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

    /// The items of a field that [`values`] accepted.
    pub(crate) fn into_items(self, name: &str) -> Vec<Json> {
        match self.members.into_owned().remove(name) {
            Some(Json::List(items)) => items,
            Some(Json::Null | Json::Bool(_) | Json::Number | Json::Text(_) | Json::Object(_)) | None => {
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
            Action::Create => self.required(field),
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
                Action::Create => with_default(schema, default.into()),
                Action::Update => schema,
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
        let path = format!("{}{name}", self.prefix);
        self.violations.push(FieldError::new(code, message).at(path));
        None
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
        for name in self.members.keys().filter(|name| !self.known.contains(&name.as_str())) {
            violations.push_with(|| {
                let error = FieldError::new(ViolationCode::UnknownField, "is not a field of this request");
                error.at(format!("{prefix}{}", shorten(name)))
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

/// Reads a value at a path that is not null. If it is invalid, adds the violations and returns `None`.
pub(crate) trait FieldReader<T>: FnOnce(&Json, &str, &mut Violations) -> Option<T> {}

impl<T, F: FnOnce(&Json, &str, &mut Violations) -> Option<T>> FieldReader<T> for F {}

fn invalid_type<T>(path: &str, violations: &mut Violations, message: &'static str) -> Option<T> {
    violations.push(FieldError::new(ViolationCode::InvalidType, message).at(path));
    None
}

/// A string that a type of the domain accepts.
pub(crate) fn text<T>(parse: impl FnOnce(&str) -> Result<T, FieldError>) -> impl FieldReader<T> {
    |value: &Json, path: &str, violations: &mut Violations| {
        let Json::Text(text) = value else { return invalid_type(path, violations, "must be a string") };
        parse(text).map_err(|error| violations.push(error.at(path))).ok()
    }
}

/// A string that refers to a resource, which may not exist.
pub(crate) fn reference<T>(parse: impl FnOnce(&str) -> T) -> impl FieldReader<T> {
    text(|text| Ok(parse(text)))
}

/// `true` or `false`.
pub(crate) fn boolean() -> impl FieldReader<bool> {
    |value: &Json, path: &str, violations: &mut Violations| {
        let Json::Bool(value) = value else {
            return invalid_type(path, violations, "must be true or false");
        };
        Some(*value)
    }
}

/// An object. `read` reads its fields.
pub(crate) fn object<T>(read: impl FnOnce(&mut ObjectReader<'_>) -> Option<T>) -> impl FieldReader<T> {
    |value: &Json, path: &str, violations: &mut Violations| {
        let Json::Object(members) = value else {
            return invalid_type(path, violations, "must be an object");
        };
        let mut object = ObjectReader::at(format!("{path}."), Cow::Borrowed(members));
        let value = read(&mut object);
        let found = object.finish();
        let valid = found.is_empty();
        violations.append(found);
        value.filter(|_| valid)
    }
}

/// An array of any values, with this number of items. Items beyond the maximum are dropped: the array is invalid anyway.
fn list<'a>(
    bounds: RangeInclusive<usize>,
    value: &'a Json,
    path: &str,
    violations: &mut Violations,
) -> Option<impl Iterator<Item = &'a Json> + use<'a>> {
    let Json::List(items) = value else { return invalid_type(path, violations, "must be an array") };
    let (least, most) = bounds.into_inner();
    if items.len() < least {
        let message = format!("must have at least {least} item{}", if least == 1 { "" } else { "s" });
        violations.push(FieldError::new(ViolationCode::TooFewItems, message).at(path));
    }
    if items.len() > most {
        let message = format!("must have at most {most} items");
        violations.push(FieldError::new(ViolationCode::TooManyItems, message).at(path));
    }
    Some(items.iter().take(most))
}

/// An array of any values, with this number of items. [`ObjectReader::into_items`] returns them.
pub(crate) fn values(bounds: RangeInclusive<usize>) -> impl FieldReader<()> {
    move |value: &Json, path: &str, violations: &mut Violations| {
        let mut found = Violations::new();
        drop(list(bounds, value, path, &mut found));
        let valid = found.is_empty();
        violations.append(found);
        valid.then_some(())
    }
}

/// An array of strings that a type of the domain accepts, with this number of items.
pub(crate) fn texts<T>(
    bounds: RangeInclusive<usize>,
    parse: impl Fn(&str) -> Result<T, FieldError>,
) -> impl FieldReader<Vec<T>> {
    move |value: &Json, path: &str, violations: &mut Violations| {
        let mut found = Violations::new();
        let values = list(bounds, value, path, &mut found)
            .into_iter()
            .flatten()
            .enumerate()
            .filter_map(|(index, item)| text(&parse)(item, &format!("{path}[{index}]"), &mut found))
            .collect();
        let valid = found.is_empty();
        violations.append(found);
        valid.then_some(values)
    }
}

/// An array of at most `most` items, each read at its own path. An invalid item becomes `None`, so that later violations of
/// other items have the right index.
pub(crate) fn items<T>(
    most: usize,
    read: impl Fn(&Json, &str, &mut Violations) -> Option<T>,
) -> impl FieldReader<Vec<Option<T>>> {
    move |value: &Json, path: &str, violations: &mut Violations| {
        let items = list(0..=most, value, path, violations)?.enumerate();
        Some(items.map(|(index, item)| read(item, &format!("{path}[{index}]"), violations)).collect())
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::{CountryCode, Name, Note};

    use super::*;
    use crate::extract::field::field;
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
