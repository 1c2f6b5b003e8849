//! An OpenAPI document.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::strict::strict;

/// An OpenAPI document of version 3.1 or 3.0, read strictly: nothing that it does not name is allowed. It dereferences to this
/// reading, in the words of 3.1.
pub struct Document {
    served: Value,
    value: Value,
    /// Compiled schemas by their text.
    compiled: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Document {
    /// Parses a document.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let served = serde_json::from_str(text).expect("a document is JSON");
        let value = strict(&served);
        Self { served, value, compiled: Mutex::default() }
    }

    /// The document as it is served.
    #[must_use]
    pub const fn served(&self) -> &Value {
        &self.served
    }

    /// The violations of a schema of the document by a value.
    #[must_use]
    pub fn mismatches(&self, schema: &Value, value: &Value) -> Vec<String> {
        let errors = self.validator(schema);
        errors.iter_errors(value).map(|error| format!("at `{}`: {error}", error.instance_path())).collect()
    }

    /// Why a value is not a schema of JSON Schema 2020-12; `None` if it is one.
    #[must_use]
    pub fn schema_error(schema: &Value) -> Option<String> {
        jsonschema::draft202012::meta::validate(schema).err().map(|error| error.to_string())
    }

    /// The target of a `$ref`, or the value itself.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let reference = value.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        reference.map_or(value, |pointer| self.value.pointer(pointer).expect("a reference that resolves"))
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let validator = compiled.entry(schema.to_string()).or_insert_with(|| {
            let whole = json!({"allOf": [schema], "components": self.value["components"]});
            let options = jsonschema::draft202012::options().should_validate_formats(true);
            Arc::new(options.build(&whole).unwrap_or_else(|error| panic!("{schema}: {error}")))
        });
        Arc::clone(validator)
    }
}

impl Deref for Document {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}
