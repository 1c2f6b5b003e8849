//! Samples of the parts of forms that say when a link works, and how it sends its visitors on, and which card it has.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    CardSketch, Choice, Field, LifeForm, LinkPasswordForm, PreviewForm, PreviewInputs, RuleRow,
    RuleTargetRow, Select, TimeField, UtmField, WayForm,
};
use signpost_domain::{RedirectStatus, UtmPart};

use crate::link_samples::LONG;
use crate::samples::Maker;

/// A time that the clock shows twice, and a text that is no time.
pub(crate) fn refused_life(m: &Maker) -> LifeForm {
    let words = ENGLISH.life;
    let choices = [
        ("", words.choose.to_owned()),
        ("first", (words.first)("00:30")),
        ("second", (words.second)("01:30")),
    ];
    let choices = choices.each_ref().map(|(value, label)| (*value, label.as_str()));
    LifeForm {
        zone: m.w("Europe/Berlin"),
        starts_at: TimeField {
            field: m.bad("2026-10-25T02:30", &(words.shown_twice)("Europe/Berlin")),
            is_text: false,
            which: Some(m.select(&choices)),
        },
        expires_at: TimeField {
            field: m.bad("tomorrow", "Must be a date with a time such as 2026-11-26T09:00."),
            is_text: true,
            which: None,
        },
        fallback_url: m.bad("ftp://", "Must begin with http:// or https://."),
    }
}

/// The way of most redirects.
pub(crate) fn empty_way() -> WayForm {
    WayForm {
        redirect_status: statuses(RedirectStatus::default(), None),
        utm: utm(|_| Field::default()),
        ..WayForm::default()
    }
}

pub(crate) fn full_way(m: &Maker) -> WayForm {
    WayForm {
        redirect_status: statuses(RedirectStatus::TemporaryRedirect, None),
        is_unusual: true,
        forward_query: true,
        utm: utm(|part| m.field(part.as_str())),
        utm_error: None,
    }
}

pub(crate) fn refused_way(m: &Maker) -> WayForm {
    let error = m.some("Must be 302 or 307 beside “Pixels”: browsers keep a 308 and would not ask again.");
    WayForm {
        redirect_status: statuses(RedirectStatus::PermanentRedirect, error),
        is_unusual: true,
        forward_query: false,
        utm: utm(|_| m.bad(LONG, "Must have at most 255 characters.")),
        utm_error: m.some("Must have at most 4096 bytes."),
    }
}

fn statuses(chosen: RedirectStatus, error: Option<String>) -> Select {
    let name = ENGLISH.life.redirect_status_name;
    let choice =
        |status: RedirectStatus| Choice::new(status.code().to_string(), name(status), status == chosen);
    Select { options: RedirectStatus::ALL.map(choice).to_vec(), error }
}

fn utm(field_of: impl Fn(UtmPart) -> Field) -> Vec<UtmField> {
    let words = ENGLISH.life;
    let input = |part: UtmPart| UtmField {
        name: part.parameter(),
        label: (words.utm_part)(part),
        hint: (words.utm_part_hint)(part),
        field: field_of(part),
    };
    UtmPart::ALL.map(input).to_vec()
}

/// The fields of a link that asks for a password.
pub(crate) fn set_password() -> LinkPasswordForm {
    LinkPasswordForm {
        input: Some(Field::default()),
        is_set: true,
        hint: ENGLISH.link_password.hint_set,
        ..LinkPasswordForm::default()
    }
}

/// The same in a refused form.
pub(crate) fn refused_password(m: &Maker) -> LinkPasswordForm {
    let input = Field { error: m.some(ENGLISH.link_password.type_again), ..Field::default() };
    LinkPasswordForm { input: Some(input), is_lost: true, is_removed: true, ..set_password() }
}

/// The fields of a redirect with a card.
pub(crate) fn full_preview(m: &Maker) -> PreviewForm {
    let CardSketch { title, description, image_url } = card(m);
    let field = |text: Option<String>| Field::of(text.unwrap_or_default());
    let inputs = PreviewInputs {
        title: Field::of(title),
        description: field(description),
        image_url: field(image_url),
    };
    PreviewForm { inputs: Some(inputs), hint: ENGLISH.life.preview.hint }
}

/// The same in a refused form.
pub(crate) fn refused_preview(m: &Maker) -> PreviewForm {
    let inputs = PreviewInputs {
        title: m.bad("", "Must not be empty while the card has a description or a picture."),
        description: m.bad(LONG, "Must have at most 500 characters."),
        image_url: m.bad("ftp://", "Must begin with http:// or https://."),
    };
    PreviewForm { inputs: Some(inputs), hint: ENGLISH.life.preview.hint_kept }
}

/// The card of a redirect.
pub(crate) fn card(m: &Maker) -> CardSketch {
    CardSketch {
        title: m.w("Everything must go"),
        description: m.some("Until Sunday, half of our autumn collection.\nIn all shops."),
        image_url: m.some("https://shop.morgenbrot.example/pictures/autumn-1200x630.jpg?v=2"),
    }
}

/// Rules of a redirect.
pub(crate) fn rules(m: &Maker) -> Vec<RuleRow> {
    let target = |url: &str| RuleTargetRow { variant: None, url: m.w(url) };
    let variant = |name: &str, share: &str, url: &str| RuleTargetRow {
        variant: Some((m.w(name), (ENGLISH.life.rules.share)(share))),
        url: m.w(url),
    };
    let conditions = [
        "Country is Germany, Austria or Switzerland",
        "Except Mon, Tue, Wed, Thu, Fri from 09:00 to 17:00 in the time zone America/Argentina/ComodRivadavia",
    ];
    vec![
        RuleRow {
            name: m.w("german"),
            conditions: conditions.map(|text| m.w(text)).to_vec(),
            targets: vec![target("https://shop.morgenbrot.example/de/herbst")],
        },
        RuleRow {
            name: m.w("rul_019b5a3e11aa7c3e8899aabbccddeeff"),
            conditions: vec![m.w(LONG)],
            targets: vec![target("https://apps.example.com/morgenbrot")],
        },
        RuleRow {
            name: m.w("try"),
            conditions: vec![ENGLISH.life.rules.every_visitor.to_owned()],
            targets: vec![
                variant("old", "66.7", "https://shop.morgenbrot.example/autumn"),
                variant("new", "33.3", "https://shop.morgenbrot.example/autumn-2"),
            ],
        },
    ]
}
