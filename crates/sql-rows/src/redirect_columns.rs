//! The columns of rows of `links` that only redirects have.

use signpost_domain::{CountryCode, GeoBlocklist, PixelIds, TargetUrl};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::{IdBytes, StoredIds};

/// The target of a redirect, from its column.
pub(crate) fn target_from(row: &RowName, target_url: Option<String>) -> Result<TargetUrl, Corrupt> {
    let target_url = row.present("target_url", target_url)?;
    row.cell("target_url", TargetUrl::from_stored(target_url))
}

/// The countries of a redirect, from their column.
pub(crate) fn geo_blocklist_from(row: &RowName, codes: &str) -> Result<GeoBlocklist, Corrupt> {
    let countries = codes.split_terminator(',').map(CountryCode::from_stored).collect::<Result<Vec<_>, _>>();
    Ok(GeoBlocklist::new(row.cell("geo_blocklist", countries)?))
}

/// The pixels of a redirect, from their column.
pub(crate) fn pixel_ids_from(row: &RowName, ids: &StoredIds) -> Result<PixelIds, Corrupt> {
    let ids = row.cell("pixel_ids", ids.whole().ok_or("does not have 16 bytes for each id"))?;
    row.cell("pixel_ids", PixelIds::from_stored(ids.iter().map(|id| id.id()).collect()))
}

/// The column `geo_blocklist` for these countries.
pub(crate) fn countries(blocklist: &GeoBlocklist) -> String {
    let codes: Vec<&str> = blocklist.countries().iter().map(|country| country.as_str()).collect();
    codes.join(",")
}

/// The column `pixel_ids` for these pixels.
pub(crate) fn pixels(ids: &PixelIds) -> StoredIds {
    ids.as_slice().iter().copied().map(IdBytes::from).collect()
}
