use super::MalformedStored;
use crate::id::Id;
use crate::{
    AccentColor, AltText, CountryCode, Description, Email, Hostname, LanguageTag, Name, Note, PhoneNumber,
    PixelCode, PixelIds, PixelType, PlanName, Slug, SocialNetwork, Theme, VideoUrl, WebUrl, WidgetText,
    Widgets,
};

/// A constructor from stored text.
type Read = fn(String) -> Result<String, MalformedStored>;

macro_rules! read {
    ($value:ident) => {{
        let read: Read = |text| $value::from_stored(text).map(|value| value.as_str().to_owned());
        read
    }};
}

const CODE: Read = |text| PixelCode::from_stored(PixelType::Meta, text).map(|code| code.as_str().to_owned());

fn refuses(read: Read, texts: &[&str]) {
    for text in texts {
        assert!(read((*text).to_owned()).is_err(), "{text:?}");
    }
}

/// Stricter rules leave stored values readable. Here the values break the current rules.
#[test]
fn values_that_break_current_rules_are_still_read() {
    let long = "n".repeat(300);
    let cases: [(Read, &str); 13] = [
        (read!(Name), " spaces "),
        (read!(Name), &long),
        (read!(Note), &long),
        (read!(Slug), &long),
        (read!(Hostname), "under_score-.example"),
        (read!(Email), "nobody"),
        (read!(PlanName), "Old Plan"),
        (read!(Description), "\u{1b}"),
        (read!(WidgetText), ""),
        (read!(AltText), &long),
        (read!(SocialNetwork), &long),
        (read!(LanguageTag), "i-klingon"),
        (CODE, "not-digits_but-harmless"),
    ];
    for (read, text) in cases {
        assert_eq!(read(text.to_owned()).as_deref(), Ok(text));
    }
}

#[test]
fn r10_texts_of_one_line_have_no_line_breaks() {
    let lines = ["", "a\nb", "a\rb", "a\0", "\u{1b}[2J", "a\u{85}"];
    for read in [read!(Name), read!(Email), read!(PlanName), read!(SocialNetwork), read!(LanguageTag)] {
        refuses(read, &lines);
    }
    refuses(read!(AltText), &["a\nb"]);
}

#[test]
fn parts_of_urls_scripts_and_styles_have_safe_characters() {
    refuses(read!(Slug), &["", "a b", "a/b", "..", "a?b", "ä", "%61"]);
    refuses(
        read!(Hostname),
        &["", "no host", "Upper.example", "a..b", "a/b", "ü.example", "[x]", "a:1", "host."],
    );
    refuses(read!(Hostname), &[&format!("{}.example", "a".repeat(64)), &"a.".repeat(127)]);
    refuses(CODE, &["", "</script>", "');alert('", "1 2", "ü"]);
    let color: Read = |text| AccentColor::from_stored(&text).map(|color| color.as_str().to_owned());
    refuses(color, &["", "red", "#12345", "#12345g", "#123456;"]);
    let theme: Read = |text| Theme::from_stored(&text).map(|theme| theme.as_str().to_owned());
    refuses(theme, &["", "blue"]);
    refuses(read!(PhoneNumber), &["", "110", "+442079460958?body=x"]);
    refuses(read!(WebUrl), &["javascript:alert(1)"]);
    refuses(read!(VideoUrl), &["https://youtube.com.example.org/watch"]);
    assert!(PixelType::from_stored("secret").is_err());
}

#[test]
fn hostnames_of_every_form_read_back() {
    for text in ["localhost", "go.example.com", "192.0.2.1", "[2001:db8::1]", "xn--bcher-kva.example"] {
        let hostname = Hostname::parse(text).unwrap();
        assert_eq!(Hostname::from_stored(hostname.as_str().to_owned()), Ok(hostname));
    }
}

/// Contract D26: codes of countries are withdrawn, but stored blocklists stay.
#[test]
fn d26_a_code_that_was_withdrawn_is_still_read() {
    for code in CountryCode::all() {
        assert_eq!(CountryCode::from_stored(code.as_str()), Ok(code));
    }
    for code in ["AA", "AN", "UK", "ZZ"] {
        assert_eq!(CountryCode::from_stored(code).unwrap().as_str(), code);
    }
    for text in ["", "D", "de", "DEU", "D1", "D[", "@A", "Ä"] {
        assert!(CountryCode::from_stored(text).is_err(), "{text}");
    }
}

/// A damaged row cannot fill the memory.
#[test]
fn texts_and_lists_from_the_store_are_bounded() {
    let huge = "a".repeat(16 * 1024 + 1);
    for read in [read!(Name), read!(Note), read!(Slug), read!(Description), read!(WidgetText), CODE] {
        refuses(read, &[&huge]);
    }
    let ids = |number: u16| {
        (0..number).map(|number| {
            let mut bytes = [0; 16];
            bytes[..2].copy_from_slice(&number.to_be_bytes());
            Id::from_bytes(bytes)
        })
    };
    assert_eq!(PixelIds::from_stored(ids(11).collect()).unwrap().as_slice().len(), 11);
    assert!(PixelIds::from_stored(ids(1_001).collect()).is_err());
    assert!(Widgets::from_stored(vec![]).is_ok());
}

/// Contract D36: each pixel once.
#[test]
fn d36_a_pixel_that_is_stored_twice_is_read_once() {
    let id = Id::from_bytes([7; 16]);
    assert_eq!(PixelIds::from_stored(vec![id, id]).unwrap().as_slice(), [id]);
}
