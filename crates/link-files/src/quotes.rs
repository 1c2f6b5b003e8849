//! Finds text behind a closing quotation mark, which the parser of tables would add to the cell.

/// Follows the quotation marks of a row, byte by byte, by the parser's own rules.
pub(crate) struct Quotes {
    separator: u8,
    place: Place,
    cell: usize,
    with_text_behind: Option<usize>,
}

/// The place of the next byte.
#[derive(Clone, Copy)]
enum Place {
    StartOfCell,
    Unquoted,
    Quoted,
    /// Behind a mark within a quoted cell: it closes the cell, unless another mark follows.
    BehindMark,
}

impl Quotes {
    /// The start of a row.
    pub(crate) const fn new(separator: u8) -> Self {
        Self { separator, place: Place::StartOfCell, cell: 0, with_text_behind: None }
    }

    /// Reads the next bytes of the row.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.place = match (self.place, *byte) {
                (Place::Quoted, b'"') => Place::BehindMark,
                (Place::StartOfCell | Place::BehindMark, b'"') | (Place::Quoted, _) => Place::Quoted,
                (_, byte) if byte == self.separator => {
                    self.cell = self.cell.saturating_add(1);
                    Place::StartOfCell
                }
                (_, b'\r' | b'\n') => Place::StartOfCell,
                (Place::BehindMark, _) => {
                    self.with_text_behind.get_or_insert(self.cell);
                    Place::Unquoted
                }
                (Place::StartOfCell | Place::Unquoted, _) => Place::Unquoted,
            };
        }
    }

    /// Whether the next byte is within quotation marks.
    pub(crate) const fn is_within(&self) -> bool {
        matches!(self.place, Place::Quoted)
    }

    /// The index of the first cell with text behind its closing mark.
    pub(crate) const fn with_text_behind(&self) -> Option<usize> {
        self.with_text_behind
    }
}
