//! Writes records to a file.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;
use signpost_app::transfer::{Field, FieldValue, Record};

use crate::csv_values::cell;
use crate::format::FileFormat;

/// Writes records one by one.
pub struct RecordWriter<W: Write> {
    rows: Rows<W>,
}

enum Rows<W: Write> {
    Csv(Box<csv::Writer<W>>),
    JsonLines(W),
}

impl<W: Write> RecordWriter<W> {
    /// Starts to write. A table gets its header.
    ///
    /// # Errors
    /// The destination cannot be written.
    pub fn new(format: FileFormat, destination: W) -> io::Result<Self> {
        let rows = match format {
            FileFormat::Csv => {
                let mut table = csv::Writer::from_writer(destination);
                table.write_record(Field::exported().map(Field::name))?;
                Rows::Csv(Box::new(table))
            }
            FileFormat::JsonLines => Rows::JsonLines(destination),
        };
        Ok(Self { rows })
    }

    /// Writes one record.
    ///
    /// # Errors
    /// The destination cannot be written.
    pub fn write(&mut self, record: &Record) -> io::Result<()> {
        match &mut self.rows {
            Rows::Csv(table) => {
                table.write_record(Field::exported().map(|field| cell(field, record.get(field))))?;
            }
            Rows::JsonLines(lines) => {
                serde_json::to_writer(&mut *lines, &JsonRecord(record))?;
                lines.write_all(b"\n")?;
            }
        }
        Ok(())
    }

    /// Ends the file, and returns the destination.
    ///
    /// # Errors
    /// The rest cannot be written.
    pub fn finish(self) -> io::Result<W> {
        let mut destination = match self.rows {
            Rows::Csv(table) => table.into_inner().map_err(csv::IntoInnerError::into_error)?,
            Rows::JsonLines(lines) => lines,
        };
        destination.flush()?;
        Ok(destination)
    }
}

/// A record as an object of the API's fields.
struct JsonRecord<'a>(&'a Record);

impl Serialize for JsonRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(record) = self;
        let mut object = serializer.serialize_map(None)?;
        for field in Field::exported() {
            match record.get(field) {
                None | Some(FieldValue::Unfit) => {}
                Some(FieldValue::Null) => object.serialize_entry(field.name(), &())?,
                Some(FieldValue::Flag(flag)) => object.serialize_entry(field.name(), flag)?,
                Some(FieldValue::Number(number)) => object.serialize_entry(field.name(), number)?,
                Some(FieldValue::Text(text)) => object.serialize_entry(field.name(), text)?,
                Some(FieldValue::Countries(countries)) => {
                    object.serialize_entry(field.name(), &Countries { countries })?;
                }
                Some(FieldValue::Json(json)) => {
                    let value: Box<RawValue> =
                        serde_json::from_str(json).map_err(serde::ser::Error::custom)?;
                    object.serialize_entry(field.name(), &value)?;
                }
                Some(FieldValue::Names(names)) => object.serialize_entry(field.name(), names)?,
            }
        }
        object.end()
    }
}

#[derive(Serialize)]
struct Countries<'a> {
    countries: &'a [String],
}
