//! Valid calls of each operation, taken from the examples of the document. Tests that walk all operations need no
//! list of their own.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::document::Document;

/// Ids to put into a call, by their prefix: `rdr_`.
pub type IdOfEach = BTreeMap<String, String>;

/// The name of the parameter that holds the id of a resource.
const ID: &str = "id";

/// How the hostnames of examples end.
const HOSTS: &str = ".example.org";

/// A resource that only links create, by naming it in a field.
#[derive(Debug, Clone, Copy)]
struct NamedByLinks {
    /// The prefix of its ids.
    prefix: &'static str,
    /// The path that lists it.
    list: &'static str,
    /// The field of links with the names.
    field: &'static str,
}

const NAMED_BY_LINKS: [NamedByLinks; 1] = [NamedByLinks { prefix: "tag_", list: "/v1/tags", field: "tags" }];

/// The path at which links are created.
const LINKS: &str = "/v1/redirects";

/// A placeholder in a body, where [`Document::holes`] leaves a hole.
const HOLE: &str = "<hole>";

/// A call of one operation.
#[derive(Debug, Clone)]
pub struct Sample {
    /// In upper case.
    pub method: String,
    /// The path as the document names it: `/v1/redirects/{id}`.
    pub template: String,
    /// The prefix of the id in the path, if the path has one.
    pub id_prefix: Option<String>,
    /// The first example of the body, if the operation takes one.
    pub body: Option<Value>,
    /// The status of a success.
    pub status: u16,
    /// The template, with an example in place of each parameter but the id.
    path: String,
    /// The parameters that the query must have.
    query: String,
    /// What the call creates together with a link.
    named: Option<NamedByLinks>,
}

impl Document {
    /// A call of each operation, in the order of the document.
    #[must_use]
    pub fn samples(&self) -> Vec<Sample> {
        let paths = self["paths"].as_object().expect("a document has paths");
        let methods = |(template, item): (&String, &Value)| {
            let names: Vec<String> = item.as_object().into_iter().flat_map(Map::keys).cloned().collect();
            names.into_iter().map(|method| self.sample(&method, template)).collect::<Vec<_>>()
        };
        paths.iter().flat_map(methods).collect()
    }

    /// A call of the operation with this method and path.
    #[must_use]
    pub fn sample(&self, method: &str, template: &str) -> Sample {
        let operation = self["paths"][template].get(method.to_lowercase());
        let operation = operation.unwrap_or_else(|| panic!("the document lacks {method} {template}"));
        let (mut path, mut query, mut id_prefix) = (template.to_owned(), vec![], None);
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = self.resolve(parameter);
            let name = parameter["name"].as_str().expect("a parameter has a name");
            let schema = self.resolve(&parameter["schema"]);
            match parameter["in"].as_str() {
                Some("path") if name == ID => id_prefix = prefix_in(schema),
                Some("path") => path = path.replace(&format!("{{{name}}}"), &example(schema)),
                Some("query") if parameter["required"] == json!(true) => {
                    query.push(format!("{name}={}", example(schema)));
                }
                _ => {}
            }
        }
        Sample {
            method: method.to_uppercase(),
            template: template.to_owned(),
            id_prefix,
            body: examples(operation).next().cloned(),
            status: if operation["responses"].get("201").is_some() { 201 } else { 200 },
            path,
            query: query.join("&"),
            named: None,
        }
    }

    /// The paths at which resources are created and listed.
    #[must_use]
    pub fn collections(&self) -> Vec<&str> {
        self.lists().into_iter().filter(|path| self["paths"][*path].get("post").is_some()).collect()
    }

    /// The paths at which resources are listed.
    #[must_use]
    pub fn lists(&self) -> Vec<&str> {
        let paths = self["paths"].as_object().expect("a document has paths");
        let of_resources = paths.keys().filter_map(|template| template.strip_suffix("/{id}"));
        of_resources.filter(|path| self["paths"][*path].get("get").is_some()).collect()
    }

    /// The call that creates a resource with ids of this prefix. [`Sample::created_in`] says where its id is.
    #[must_use]
    pub fn creation(&self, prefix: &str) -> Sample {
        if let Some(named) = NAMED_BY_LINKS.into_iter().find(|named| named.prefix == prefix) {
            return Sample { named: Some(named), ..self.sample("POST", LINKS) };
        }
        let creates = |collection: &&str| {
            self.sample("GET", &format!("{collection}/{{id}}")).id_prefix.as_deref() == Some(prefix)
        };
        let collection = self.collections().into_iter().find(creates);
        self.sample(
            "POST",
            collection.unwrap_or_else(|| panic!("the document creates nothing with {prefix}")),
        )
    }

    /// A second body that the operation takes: the first with a longer free text, the second example, or the first with
    /// any longer text. An operation without a body gets an unknown field.
    #[must_use]
    pub fn other_body(&self, sample: &Sample) -> Value {
        let Some(body) = &sample.body else { return json!({ "nonsense": 1 }) };
        let operation = &self["paths"][&sample.template][sample.method.to_lowercase()];
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let longer = |is_free: bool| {
            let bodies = texts(body, "").into_iter().filter_map(move |place| {
                let mut body = body.clone();
                let text = body.pointer_mut(&place)?;
                let longer = text.as_str().filter(|text| text.contains(' ') == is_free)?;
                *text = json!(format!("another{longer}"));
                Some(body)
            });
            bodies.filter(|body| self.mismatches(schema, body).is_empty())
        };
        let mut others = longer(true).chain(examples(operation).nth(1).cloned()).chain(longer(false));
        others.next().unwrap_or_else(|| panic!("the document has one body only: {sample:?}"))
    }

    /// Bodies of the operation with a `@` in a place where every value in `refused` is invalid. The place is
    /// a text with a bound, or the last item of an array. The rest of each body is the least that the
    /// operation takes.
    #[must_use]
    pub fn holes(&self, sample: &Sample, refused: &[Value]) -> Vec<String> {
        let operation = &self["paths"][&sample.template][sample.method.to_lowercase()];
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let example = sample.body.clone().unwrap_or_default();
        let bodies = self.holes_in(schema, &example, refused);
        bodies.into_iter().map(|body| body.to_string().replace(&format!("\"{HOLE}\""), "@")).collect()
    }

    fn holes_in(&self, schema: &Value, example: &Value, refused: &[Value]) -> Vec<Value> {
        let schema = self.resolve(schema);
        if let Some(items) = schema.get("items") {
            let items_schema = self.resolve(items);
            if refused.iter().all(|value| self.mismatches(items_schema, value).is_empty()) {
                // A list of any JSON values.
                return vec![];
            }
            let inner = self.holes_in(items, example.get(0).unwrap_or(&Value::Null), refused);
            let inner = inner.into_iter().filter(|inner| *inner != json!(HOLE)).map(|item| json!([item]));
            // Behind another item, so that an empty text in the hole leaves no valid array.
            let first = self.resolve(items)["examples"].get(0).cloned().unwrap_or_else(|| json!("first"));
            return std::iter::once(json!([first, HOLE])).chain(inner).collect();
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let required: Map<_, _> =
                required.filter_map(|name| Some((name.to_owned(), example.get(name)?.clone()))).collect();
            let inner = properties.iter().flat_map(|(name, property)| {
                let inner = self.holes_in(property, example.get(name).unwrap_or(&Value::Null), refused);
                inner.into_iter().map(move |inner| (name.clone(), inner))
            });
            return inner
                .map(|member| Value::Object(required.clone().into_iter().chain([member]).collect()))
                .collect();
        }
        if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
            let inner = alternatives.iter().map(|schema| self.holes_in(schema, example, refused));
            return inner.flatten().collect();
        }
        let is_text = schema["type"] == "string" || schema["type"] == json!(["string", "null"]);
        // A malformed id is a reference to nothing, and no violation.
        let is_text = is_text && prefix_in(schema).is_none();
        let fits = |value: &Value| self.mismatches(schema, value).is_empty();
        if is_text && !refused.iter().any(fits) { vec![json!(HOLE)] } else { vec![] }
    }
}

impl Sample {
    /// The path with this id, and with the parameters that the query must have.
    #[must_use]
    pub fn path(&self, id: &str) -> String {
        let path = self.path.replace("{id}", id);
        if self.query.is_empty() { path } else { format!("{path}?{}", self.query) }
    }

    /// The path like [`Self::path`], with one more parameter: `limit=1`.
    #[must_use]
    pub fn path_with(&self, id: &str, parameter: &str) -> String {
        let separator = if self.query.is_empty() { '?' } else { '&' };
        format!("{}{separator}{parameter}", self.path(id))
    }

    /// The prefixes of the ids that a call needs, in its path and in its body.
    #[must_use]
    pub fn prefixes(&self) -> BTreeSet<String> {
        let texts = self.body.iter().flat_map(|body| {
            texts(body, "").into_iter().filter_map(|place| body.pointer(&place)?.as_str()).collect::<Vec<_>>()
        });
        texts.filter_map(prefix_of).map(str::to_owned).chain(self.id_prefix.clone()).collect()
    }

    /// The list whose first item is the created resource; `None` if the answer to the call is that resource.
    #[must_use]
    pub fn created_in(&self) -> Option<&'static str> {
        self.named.map(|named| named.list)
    }

    /// The body, with other hostnames for each number, as a hostname belongs to one account, and other names of what is
    /// created with a link.
    #[must_use]
    pub fn fresh_body(&self, number: usize) -> Option<Value> {
        let mut body = self.body.clone()?;
        if let Some(named) = self.named {
            body[named.field] = json!([format!("n{number}")]);
        }
        for place in texts(&body, "") {
            let text = body.pointer_mut(&place)?;
            if let Some(hostname) = text.as_str().filter(|text| text.ends_with(HOSTS)) {
                *text = json!(format!("n{number}-{hostname}"));
            }
        }
        Some(body)
    }

    /// The body, with these ids in place of the ids in the example. An id of zeros belongs to no resource, and stays.
    #[must_use]
    pub fn body_with(&self, ids: &IdOfEach) -> Option<Value> {
        let mut body = self.body.clone()?;
        for place in texts(&body, "") {
            let text = body.pointer_mut(&place)?;
            if let Some(id) = text.as_str().and_then(prefix_of).and_then(|prefix| ids.get(prefix)) {
                *text = json!(id);
            }
        }
        Some(body)
    }
}

/// The examples of an operation's body.
fn examples(operation: &Value) -> impl Iterator<Item = &Value> {
    let examples = operation.pointer("/requestBody/content/application~1json/examples");
    examples.and_then(Value::as_object).into_iter().flat_map(Map::values).map(|example| &example["value"])
}

/// A value of a parameter.
fn example(schema: &Value) -> String {
    let values = [&schema["examples"], &schema["enum"]].into_iter().find_map(Value::as_array);
    match values.and_then(|values| values.first()) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => panic!("a parameter without an example: {schema}"),
    }
}

/// The prefix of the ids that a schema describes.
fn prefix_in(schema: &Value) -> Option<String> {
    let prefix = schema["pattern"].as_str()?.strip_prefix('^')?.strip_suffix("[0-9a-f]{32}$")?;
    Some(prefix.to_owned())
}

/// The prefix of an id in an example, unless all its digits are zeros.
fn prefix_of(text: &str) -> Option<&str> {
    let (prefix, digits) = text.split_at_checked(4)?;
    let is_id = prefix.ends_with('_') && digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    (is_id && digits.bytes().any(|digit| digit != b'0')).then_some(prefix)
}

/// The JSON pointers of all texts in a value.
fn texts(value: &Value, place: &str) -> Vec<String> {
    match value {
        Value::String(_) => vec![place.to_owned()],
        Value::Array(items) => {
            let inner = items.iter().enumerate();
            inner.flat_map(|(index, item)| texts(item, &format!("{place}/{index}"))).collect()
        }
        Value::Object(members) => {
            let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
            let inner = members.iter();
            inner.flat_map(|(name, member)| texts(member, &format!("{place}/{}", escaped(name)))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => vec![],
    }
}
