//! The content of landing pages as JSON lines.

use std::io;

use serde::Serialize;
use serde_json::value::RawValue;
use signpost_domain::{LandingPage, Slug};

/// A landing page as a line: what names it, and its content in the form in which stores keep it.
#[derive(Serialize)]
struct Line<'a> {
    id: String,
    title: &'a str,
    slug: Option<&'a str>,
    is_active: bool,
    page: &'a RawValue,
}

/// Adds a line for a landing page.
///
/// # Errors
/// The content is not JSON, which never happens.
pub fn write_page(page: &LandingPage, lines: &mut Vec<u8>) -> io::Result<()> {
    let content = RawValue::from_string(page.content.to_json())?;
    let line = Line {
        id: page.id.to_string(),
        title: page.name.as_str(),
        slug: page.placement.slug().map(Slug::as_str),
        is_active: page.is_active,
        page: &content,
    };
    serde_json::to_writer(&mut *lines, &line)?;
    lines.push(b'\n');
    Ok(())
}
