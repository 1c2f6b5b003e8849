//! Clicks as lines of NDJSON or CSV (D66).

use std::io::Write as _;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use signpost_domain::analytics::{ClickId, Dimension, ExportedClick, push_csv_cell};
use signpost_domain::{FieldError, ViolationCode};

/// The fields before those of the dimensions.
const FIELDS: [&str; 4] = ["id", "at", "link_id", "kind"];

/// The format of the lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LineFormat {
    /// One JSON object per line.
    #[default]
    Ndjson,
    /// RFC 4180, with a header.
    Csv,
}

impl LineFormat {
    /// Reads the name of a format.
    ///
    /// # Errors
    /// `invalid_value` for any other text.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        match text {
            "ndjson" => Ok(Self::Ndjson),
            "csv" => Ok(Self::Csv),
            _ => Err(FieldError::new(ViolationCode::InvalidValue, "must be ndjson or csv")),
        }
    }

    /// The media type.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Ndjson => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    /// The bytes before the first click.
    #[must_use]
    pub fn header(self) -> Vec<u8> {
        match self {
            Self::Ndjson => Vec::new(),
            Self::Csv => {
                let names = FIELDS.into_iter().chain(Dimension::EXPORTED.map(Dimension::as_str));
                let mut header = names.collect::<Vec<_>>().join(",").into_bytes();
                header.extend_from_slice(b"\r\n");
                header
            }
        }
    }

    /// Adds a line for each click.
    ///
    /// # Errors
    /// Never, because memory takes every line.
    pub fn write(self, clicks: &[ExportedClick], lines: &mut Vec<u8>) -> std::io::Result<()> {
        for click in clicks {
            match self {
                Self::Ndjson => {
                    serde_json::to_writer(&mut *lines, &Line(click))?;
                    lines.push(b'\n');
                }
                Self::Csv => write_csv(click, lines)?,
            }
        }
        Ok(())
    }
}

/// A click as a line of JSON.
pub(crate) struct Line<'a>(pub(crate) &'a ExportedClick);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ExportedClick { id, kind, values: _ } = self.0;
        let ClickId { at, link, place: _ } = id;
        let mut map = serializer.serialize_map(None)?;
        let [id_field, at_field, link_field, kind_field] = FIELDS;
        map.serialize_entry(id_field, &format_args!("{id}"))?;
        map.serialize_entry(at_field, &format_args!("{at}"))?;
        map.serialize_entry(link_field, &format_args!("{link}"))?;
        map.serialize_entry(kind_field, kind.as_str())?;
        for (dimension, value) in self.0.shown_values() {
            map.serialize_entry(dimension.as_str(), value)?;
        }
        map.end()
    }
}

fn write_csv(click: &ExportedClick, lines: &mut Vec<u8>) -> std::io::Result<()> {
    let ExportedClick { id, kind, values: _ } = click;
    write!(lines, "{id},{},{},{}", id.at, id.link, kind.as_str())?;
    for (_, value) in click.shown_values() {
        lines.push(b',');
        push_csv_cell(value, lines);
    }
    lines.extend_from_slice(b"\r\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use signpost_domain::analytics::RecordedKind;
    use signpost_domain::{LinkId, LinkKind, Timestamp};

    use super::*;

    fn click(country: &str, campaign: &str, rule: &str) -> ExportedClick {
        let mut values: [String; Dimension::RECORDED.len()] = Default::default();
        country.clone_into(&mut values[1]);
        campaign.clone_into(&mut values[9]);
        rule.clone_into(&mut values[10]);
        let link = LinkId::from_bytes(LinkKind::Redirect, [7; 16]);
        let id = ClickId { at: Timestamp::from_unix_millis(1_769_850_307_042).unwrap(), link, place: 2 };
        ExportedClick { id, kind: RecordedKind::Bot, values }
    }

    fn written(format: LineFormat, click: &ExportedClick) -> String {
        let mut lines = Vec::new();
        format.write(std::slice::from_ref(click), &mut lines).unwrap();
        String::from_utf8(lines).unwrap()
    }

    #[test]
    fn d66_a_line_of_json_has_every_field_and_unknown_values_are_empty() {
        let line = written(LineFormat::Ndjson, &click("DE", "a \"b\"\n", "phones.new"));
        assert_eq!(
            line,
            "{\"id\":\"clk_019c134c81e2r070707070707070707070707070707072\",\"at\":\"2026-01-31T09:05:07.042Z\",\
             \"link_id\":\"rdr_07070707070707070707070707070707\",\"kind\":\"bot\",\"channel\":\"\",\
             \"country\":\"DE\",\"device\":\"\",\"os\":\"\",\"browser\":\"\",\"language\":\"\",\"referrer\":\"\",\
             \"utm_source\":\"\",\"utm_medium\":\"\",\"utm_campaign\":\"a \\\"b\\\"\\n\",\"widget\":\"\",\"rule\":\"phones.new\"}\n"
        );
    }

    #[test]
    fn d66_cells_are_quoted_after_rfc_4180_and_run_no_formulas() {
        let cell = |campaign: &str| {
            let line = written(LineFormat::Csv, &click("DE", campaign, ""));
            let rest = line.strip_prefix(
                "clk_019c134c81e2r070707070707070707070707070707072,2026-01-31T09:05:07.042Z,\
                 rdr_07070707070707070707070707070707,bot,,DE,,,,,,,,",
            );
            rest.unwrap().strip_suffix(",,\r\n").unwrap().to_owned()
        };
        assert_eq!(cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(cell("@SUM(A1,A2)"), "\"'@SUM(A1,A2)\"");
        let header = String::from_utf8(LineFormat::Csv.header()).unwrap();
        assert!(
            header.starts_with("id,at,link_id,kind,channel,country,") && header.ends_with(",widget,rule\r\n")
        );
    }
}
