//! The texts that are sealed into cookies and forms: one field a line.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use signpost_domain::SealedSecret;

use crate::people::PersonError;
use crate::ports::Sealer;

/// The maximum length of a sealed text that is opened. Browsers keep cookies of 4 KiB.
const MAX_LENGTH: usize = 4096;

/// Seals fields, none of which has a line feed.
pub(super) fn seal<const N: usize>(
    sealer: &dyn Sealer,
    purpose: &str,
    fields: [&str; N],
) -> Result<String, PersonError> {
    // A line feed would move the fields behind it. Their types allow none.
    let fields = fields.map(|field| if field.contains('\n') { "" } else { field });
    let SealedSecret(bytes) = sealer.seal(purpose, fields.join("\n").as_bytes())?;
    Ok(BASE64URL.encode(bytes))
}

/// Opens fields that were sealed for the same purpose.
pub(super) fn open<const N: usize>(sealer: &dyn Sealer, purpose: &str, text: &str) -> Option<[String; N]> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let opened = sealer.open(purpose, &SealedSecret(BASE64URL.decode(text).ok()?))?;
    let fields: Vec<String> = String::from_utf8(opened).ok()?.split('\n').map(str::to_owned).collect();
    fields.try_into().ok()
}
