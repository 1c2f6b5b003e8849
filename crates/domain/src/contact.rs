//! How visitors reach the owner of a page by phone (D35).

use crate::stored::MalformedStored;
use crate::violation::{FieldError, ViolationCode};

/// What a visitor does with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContactMethod {
    /// `phone`: calls it.
    Phone,
    /// `sms`: writes a text message to it.
    Sms,
    /// `whatsapp`: writes to it on `WhatsApp`.
    Whatsapp,
}

impl ContactMethod {
    /// Every method.
    pub const ALL: [Self; 3] = [Self::Phone, Self::Sms, Self::Whatsapp];

    /// The name in requests and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Phone => "phone",
            Self::Sms => "sms",
            Self::Whatsapp => "whatsapp",
        }
    }

    /// The method of this name.
    ///
    /// # Errors
    /// `invalid_value`.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::named(text).ok_or_else(|| {
            FieldError::new(ViolationCode::InvalidValue, "must be one of phone, sms, whatsapp")
        })
    }

    /// Reads a stored name.
    pub fn from_stored(text: &str) -> Result<Self, MalformedStored> {
        Self::named(text).ok_or(MalformedStored("is not a method of contact"))
    }

    fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == text)
    }

    /// The host on which the method opens, if it is a website. The operator may list it as no target (D24).
    #[must_use]
    pub const fn host(self) -> Option<&'static str> {
        match self {
            Self::Phone | Self::Sms => None,
            Self::Whatsapp => Some("wa.me"),
        }
    }
}

/// A telephone number as E.164 writes it: `+`, the country code and the number, 7 to 15 digits in all, without
/// spaces. The shortest numbers in use have seven. Whether the number is assigned is not checked.
///
/// ```
/// use signpost_domain::PhoneNumber;
///
/// assert_eq!(PhoneNumber::parse("+442079460958").unwrap().digits(), "442079460958");
/// assert!(PhoneNumber::parse("020 7946 0958").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PhoneNumber(String);

impl PhoneNumber {
    /// The minimum number of digits.
    pub const MIN_DIGITS: usize = 7;

    /// The maximum number of digits.
    pub const MAX_DIGITS: usize = 15;

    /// Reads a number.
    ///
    /// # Errors
    /// `invalid_format`.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if is_e164(text) {
            return Ok(Self(text.to_owned()));
        }
        let message =
            "must be a telephone number with its country code and without spaces, such as +442079460958";
        Err(FieldError::new(ViolationCode::InvalidFormat, message))
    }

    /// Reads a stored number, with the same rule, because it becomes part of an address.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        if is_e164(&text) { Ok(Self(text)) } else { Err(MalformedStored("is not a telephone number")) }
    }

    /// The number, with its `+`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number without its `+`.
    #[must_use]
    pub fn digits(&self) -> &str {
        self.0.trim_start_matches('+')
    }
}

fn is_e164(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or_default();
    (PhoneNumber::MIN_DIGITS..=PhoneNumber::MAX_DIGITS).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d35_methods_of_contact_are_those_of_the_contract() {
        assert_eq!(ContactMethod::ALL.map(ContactMethod::as_str), ["phone", "sms", "whatsapp"]);
        for method in ContactMethod::ALL {
            assert_eq!(ContactMethod::parse(method.as_str()), Ok(method));
            assert_eq!(ContactMethod::from_stored(method.as_str()), Ok(method));
        }
        for bad in ["", "Phone", "fax"] {
            assert_eq!(ContactMethod::parse(bad).unwrap_err().code(), ViolationCode::InvalidValue, "{bad:?}");
        }
    }

    #[test]
    fn d35_telephone_numbers_have_the_form_of_e164() {
        for good in ["+6834000", "+442079460958", "+12025550123", "+123456789012345"] {
            assert_eq!(PhoneNumber::parse(good).unwrap().as_str(), good);
            assert_eq!(PhoneNumber::from_stored(good.to_owned()).unwrap().digits(), &good[1..]);
        }
        for bad in [
            "",
            "+",
            "442079460958",
            "00442079460958",
            "+0442079460958",
            "+44 20 7946 0958",
            "+44-20-7946-0958",
            "+123456",
            "+1234567890123456",
            "+44207946095x",
            "+٤٤٢٠٧٩٤٦٠٩٥٨",
            "++442079460958",
            " +442079460958",
            "+442079460958\n",
            "+442079460958;ext=1",
        ] {
            assert_eq!(PhoneNumber::parse(bad).unwrap_err().code(), ViolationCode::InvalidFormat, "{bad:?}");
            assert!(PhoneNumber::from_stored(bad.to_owned()).is_err(), "{bad:?}");
        }
    }
}
