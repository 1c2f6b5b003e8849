//! The output of commands, and the wording of counts and lists.

use std::fmt::Display;
use std::io::{self, Write};

use serde::Serialize;

/// Standard output in the form that the operator chose: lines for people, or JSON.
pub(crate) struct Output<'a> {
    out: &'a mut dyn Write,
    json: bool,
}

impl<'a> Output<'a> {
    /// An output to `out`, in JSON or for people.
    pub(crate) fn new(out: &'a mut dyn Write, json: bool) -> Self {
        Self { out, json }
    }

    /// Whether it is JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Standard output itself, for content with its own format.
    pub(crate) fn raw(&mut self) -> &mut dyn Write {
        self.out
    }

    /// Prints one result: `json` on one line, or `text`.
    pub(crate) fn result(&mut self, json: &impl Serialize, text: impl Display) -> io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut *self.out, json)?;
            writeln!(self.out)?;
        } else {
            writeln!(self.out, "{text}")?;
        }
        self.out.flush()
    }

    /// Begins a list, which is printed item by item: an array in JSON, otherwise a line for each item under
    /// `header`.
    pub(crate) fn list(&mut self, header: impl Display) -> io::Result<ListOutput<'_, 'a>> {
        if self.json {
            write!(self.out, "[")?;
        } else {
            writeln!(self.out, "{header}")?;
        }
        Ok(ListOutput { output: self, is_empty: true })
    }
}

/// A list that is being printed. It is complete after [`Self::finish`].
pub(crate) struct ListOutput<'o, 'a> {
    output: &'o mut Output<'a>,
    is_empty: bool,
}

impl ListOutput<'_, '_> {
    /// Prints one item.
    pub(crate) fn item(&mut self, json: &impl Serialize, line: impl Display) -> io::Result<()> {
        let Output { out, json: is_json } = &mut *self.output;
        if *is_json {
            out.write_all(if self.is_empty { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut **out, json)?;
        } else {
            writeln!(out, "{line}")?;
        }
        self.is_empty = false;
        Ok(())
    }

    /// Ends the list.
    pub(crate) fn finish(self) -> io::Result<()> {
        let Output { out, json } = self.output;
        if *json {
            out.write_all(if self.is_empty { b"]\n" } else { b"\n]\n" })?;
        }
        out.flush()
    }
}

/// The outcome of printing a list. A closed pipe is no failure: its reader, such as `head`, has seen enough.
pub(crate) fn unless_reader_left(outcome: anyhow::Result<()>) -> anyhow::Result<()> {
    let left = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    match outcome {
        Err(error) if error.downcast_ref().is_some_and(left) => Ok(()),
        outcome => outcome,
    }
}

/// A count with its noun in the singular or the plural: `1 row`, `2 rows`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The items as a list in a sentence: `a`, `a and b`, `a, b and c`.
pub(super) fn enumerated(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(json: bool, items: &[u8]) -> String {
        let mut out = Vec::new();
        let mut output = Output::new(&mut out, json);
        let mut list = output.list("NUMBER").unwrap();
        for item in items {
            list.item(item, format!("number {item}")).unwrap();
        }
        list.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_list_is_an_array_or_a_table() {
        assert_eq!(printed(false, &[]), "NUMBER\n");
        assert_eq!(printed(false, &[1, 2]), "NUMBER\nnumber 1\nnumber 2\n");
        for items in [&[][..], &[1], &[1, 2, 3]] {
            assert_eq!(serde_json::from_str::<Vec<u8>>(&printed(true, items)).unwrap(), items);
        }
    }

    #[test]
    fn d60_a_json_result_is_one_line() {
        let mut out = Vec::new();
        let mut output = Output::new(&mut out, true);
        output.result(&"for programs", "for people").unwrap();
        assert_eq!(out, b"\"for programs\"\n");
    }

    #[test]
    fn only_a_count_of_one_is_singular() {
        let worded = [0, 1, 2, 21].map(|count| counted(count, "row"));
        assert_eq!(worded, ["0 rows", "1 row", "2 rows", "21 rows"]);
    }

    #[test]
    fn and_precedes_the_last_of_several_items() {
        let items = ["a", "b", "c"].map(str::to_owned);
        let worded: Vec<_> = (0..=3).map(|count| enumerated(&items[..count])).collect();
        assert_eq!(worded, ["", "a", "a and b", "a, b and c"]);
    }
}
