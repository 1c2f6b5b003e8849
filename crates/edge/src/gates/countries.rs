//! Where a visitor is (D55).

use actix_http::RequestHead;
use actix_http::header::HeaderName;
use signpost_domain::CountryCode;

use super::{GateRequest, Gates};

impl Gates {
    /// The visitor's country, if it is known: from the header of a trusted proxy, which saw the visitor's own connection, or
    /// else from the database.
    pub(super) fn country(&self, request: &GateRequest<'_>) -> Option<CountryCode> {
        let GateRequest { head, address } = request;
        self.country_in_header(head).or_else(|| self.app.countries.country(*address))
    }

    /// The visitor's country, if a trusted proxy names it.
    pub(crate) fn country_in_header(&self, head: &RequestHead) -> Option<CountryCode> {
        let name = self.country_header.as_ref()?;
        let peer = head.peer_addr?.ip();
        if !self.app.client_addresses.trusts(peer) {
            return None;
        }
        code_in(head, name)
    }
}

/// The country that the header names. A proxy may have added its value behind one that the visitor sent, so the last value
/// counts.
fn code_in(head: &RequestHead, name: &HeaderName) -> Option<CountryCode> {
    let value = head.headers().get_all(name).last()?;
    let last = value.as_bytes().rsplit(|byte| *byte == b',').next().unwrap_or_default();
    let code = str::from_utf8(last).ok()?.trim();
    // What is longer is no code, and would only be copied to find that out.
    if code.len() == 2 { CountryCode::parse(code).ok() } else { None }
}
