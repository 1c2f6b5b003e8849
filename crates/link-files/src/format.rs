//! The formats of files.

use std::path::Path;
use std::str::FromStr;

/// The format of a file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// A table with a header, quoted as RFC 4180 says.
    Csv,
    /// One JSON object a line.
    JsonLines,
}

impl FileFormat {
    /// The format that belongs to a file's extension.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" | "tsv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }

    /// Its name on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
        }
    }
}

/// There is no format of this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be `csv` or `jsonl`")]
pub struct UnknownFormat;

impl FromStr for FileFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        [Self::Csv, Self::JsonLines].into_iter().find(|format| format.as_str() == text).ok_or(UnknownFormat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_of_a_file_decides_its_format() {
        for (name, format) in [
            ("links.csv", Some(FileFormat::Csv)),
            ("a.b/LINKS.CSV", Some(FileFormat::Csv)),
            ("links.tsv", Some(FileFormat::Csv)),
            ("links.jsonl", Some(FileFormat::JsonLines)),
            ("links.ndjson", Some(FileFormat::JsonLines)),
            ("links.json", None),
            ("links", None),
            ("-", None),
        ] {
            assert_eq!(FileFormat::of_path(Path::new(name)), format, "{name}");
        }
    }

    #[test]
    fn a_format_parses_from_its_name() {
        for format in [FileFormat::Csv, FileFormat::JsonLines] {
            assert_eq!(format.as_str().parse(), Ok(format));
        }
        assert_eq!("CSV".parse::<FileFormat>(), Err(UnknownFormat));
    }
}
