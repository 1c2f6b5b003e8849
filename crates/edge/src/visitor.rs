//! What a request says about where the visitor goes and where from.

use std::net::IpAddr;

use actix_web::HttpRequest;
use actix_web::http::header;
use signpost_app::admission::{ClientAddresses, Sender};
use signpost_domain::{Hostname, Timestamp};

/// The hostname that a request is for. `None` if it names none, several, or something that is no hostname.
pub(crate) fn hostname(request: &HttpRequest) -> Option<Hostname> {
    let mut values = request.headers().get_all(header::HOST);
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let hostname = Hostname::from_authority(value.to_str().ok()?).ok()?;
    // A target in absolute form names its host a second time. One request for two hosts is nobody's address, or
    // this server and a proxy in front of it could each see another.
    match request.uri().authority() {
        Some(authority) => {
            let named_again = Hostname::from_authority(authority.as_str()).ok()?;
            (hostname == named_again).then_some(hostname)
        }
        None => Some(hostname),
    }
}

/// The address that a request counts for (D18, D54).
pub(crate) fn address(request: &HttpRequest, addresses: &ClientAddresses, now: Timestamp) -> IpAddr {
    let forwarded_for = request.headers().get_all(header::X_FORWARDED_FOR);
    let sender = Sender {
        peer: request.peer_addr().map(|peer| peer.ip()),
        // A value that is no text becomes an empty one: a hop that cannot be read, behind which nothing is believed.
        forwarded_for: forwarded_for.map(|value| value.to_str().unwrap_or_default()).collect(),
        has_forwarded: request.headers().contains_key(header::FORWARDED),
    };
    addresses.of(&sender, now)
}
