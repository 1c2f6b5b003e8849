use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

/// Contract D36: a code must have its vendor's format.
#[test]
fn d36_each_type_has_its_own_format() {
    for (kind, good, bad) in [
        (
            PixelType::GoogleTag,
            &["G-1A2BCD345E", "AW-123456789", "GT-ABCDEF"][..],
            &["G-", "g-1a2b3c", "UA-1-1"][..],
        ),
        (PixelType::GoogleTagManager, &["GTM-AB12CDE"], &["GTM-", "GTM_AB12"]),
        (PixelType::Meta, &["123456789012345"], &["1234", "12345678901234a"]),
        (PixelType::Tiktok, &["C4A1B2C3D4E5F6G7H8I9"], &["c4a1b2c3d4e5f6g7h8i9", "C4"]),
        (PixelType::Linkedin, &["1234567"], &["12", "12a4567"]),
        (PixelType::X, &["o1abc"], &["O1ABC", "o1a-c"]),
        (PixelType::Pinterest, &["2612345678901"], &["261234"]),
        (
            PixelType::Snapchat,
            &["1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f"],
            &[
                "1a2b3c4d",
                "------------------------------------",
                "1a2b3c4d1-234-5678-9abc-1a2b3c4d5e6f",
                "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6g",
                "1a2b3c4d123456789abc1a2b3c4d5e6f0000",
            ],
        ),
        (PixelType::Reddit, &["t2_1ab2cd3e", "a2_abc123"], &["t2_", "1ab2cd3e", "t3_abcdef"]),
        (PixelType::MicrosoftAds, &["12345678"], &["1234", "1234567x"]),
    ] {
        for code in good {
            assert_eq!(PixelCode::parse(kind, code).unwrap().as_str(), *code, "{kind:?}");
        }
        for code in bad.iter().copied().chain(["", " ", "';alert(1)//", "</script>", "1\n2"]) {
            let error = PixelCode::parse(kind, code).unwrap_err();
            assert_eq!(error.code(), ViolationCode::InvalidFormat, "{kind:?} {code:?}");
        }
        assert_eq!(PixelType::parse(kind.as_str()), Ok(kind));
    }
    assert_eq!(PixelType::parse("facebook").unwrap_err().code(), ViolationCode::InvalidValue);
}

/// Contract D36: at most ten, each once.
#[test]
fn d36_a_redirect_has_at_most_ten_pixels_each_once() {
    let id = |number| PixelId::from_bytes([number; 16]);
    let repeated = PixelIds::new(vec![id(2), id(1), id(2)]).unwrap();
    assert_eq!(repeated.as_slice(), [id(2), id(1)]);
    assert!(PixelIds::new((0..10).chain(0..10).map(id).collect()).is_ok());
    assert_eq!(PixelIds::new((0..11).map(id).collect()).unwrap_err().code(), ViolationCode::TooManyItems);
}

proptest! {
    /// Contract D36: no accepted code can break out of a script, a page or a URL.
    #[test]
    fn d36_accepted_codes_are_inert(
        kind in proptest::sample::select(PixelType::ALL.to_vec()),
        prefix in "(G-|GTM-|t2_|AW-|)",
        rest in "[ -~]{0,40}|[A-Z0-9]{4,20}|[0-9]{5,15}|[a-z0-9]{3,12}|\\PC{0,20}",
    ) {
        let code = format!("{prefix}{rest}");
        if let Ok(accepted) = PixelCode::parse(kind, &code) {
            prop_assert_eq!(accepted.as_str(), &code);
            prop_assert!((1..=64).contains(&code.len()));
            prop_assert!(code.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        }
    }

    /// Contract D36: one character with a special meaning makes any code invalid, at any position.
    #[test]
    fn d36_one_foreign_character_makes_a_code_invalid(
        (kind, code) in select(GOOD.to_vec()), place in any::<Index>(), foreign in "[^A-Za-z0-9_-]",
    ) {
        prop_assert!(PixelCode::parse(kind, code).is_ok());
        let mut altered = code.to_owned();
        altered.insert_str(place.index(code.len() + 1), &foreign);
        prop_assert!(PixelCode::parse(kind, &altered).is_err());
    }
}

/// A code of each type.
const GOOD: [(PixelType, &str); 10] = [
    (PixelType::GoogleTag, "DC-1234567"),
    (PixelType::GoogleTagManager, "GTM-W7XYZ12"),
    (PixelType::Meta, "1234567890123456"),
    (PixelType::Tiktok, "C4ABCDEFGHIJ1234KLMN"),
    (PixelType::Linkedin, "7654321"),
    (PixelType::X, "nzxyz"),
    (PixelType::Pinterest, "2612345678901"),
    (PixelType::Snapchat, "0F8FAD5B-D9CB-469F-A165-70867728950E"),
    (PixelType::Reddit, "a2_ehx23cq176s3"),
    (PixelType::MicrosoftAds, "187654321"),
];
