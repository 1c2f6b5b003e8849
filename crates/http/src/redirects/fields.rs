//! Fields of a redirect that its creation and its update read alike.

use signpost_domain::{CountryCode, GeoBlocklist};

use crate::extract::{Given, ObjectReader, object, texts};

/// `geo_blocklists`: an object with `countries`, or null (contract "Redirect", D26).
pub(crate) fn geo_blocklists(body: &mut ObjectReader) -> Given<GeoBlocklist> {
    let countries = |object: &mut ObjectReader| {
        object.required("countries", texts(CountryCode::COUNT, CountryCode::parse)).map(GeoBlocklist::new)
    };
    body.nullable("geo_blocklists", object(countries))
}
