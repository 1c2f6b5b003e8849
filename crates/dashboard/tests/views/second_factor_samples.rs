//! Samples of the pages about second factors.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    Field, Form, NavItem, PresentFactor, RecoveryCodesPage, SecondFactorPage, SetUpFactorPage, SignInCodePage,
};

use crate::link_samples::LONG;
use crate::samples::{Maker, form, key};

const QR: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 4 4\"><path d=\"M0 0h4\"/></svg>";

pub(crate) fn add(m: &Maker) {
    let words = ENGLISH.second_factor;
    let shell = |title: &str| m.own_shell(title, NavItem::Me);
    let code = SignInCodePage { card: m.card(), form: form(500), next: m.w("/me"), wait: None };
    m.add("sign-in-code", &code);
    let refused = Form { general_error: m.some(words.wrong_code), ..form(500) };
    m.add(
        "sign-in-code-error",
        &SignInCodePage { form: refused, wait: m.some(&(ENGLISH.wait_seconds)(30)), ..code },
    );
    let off = SecondFactorPage {
        shell: shell(words.title),
        present: None,
        closing: Vec::new(),
        closing_note: None,
        why_not: None,
        set_up: "/me/second-factor/set-up?next=%2Facc_1%2Flinks".to_owned(),
        idempotency_key: key(501),
    };
    m.add("second-factor-off", &off);
    let impossible = SecondFactorPage { why_not: Some(words.cannot_no_key), ..off.clone() };
    m.add("second-factor-impossible", &impossible);
    let present = PresentFactor { since: m.w("26 Nov 2026, 20:47"), codes_left: 9 };
    let note = Some(words.remove_closes_nothing);
    let on = SecondFactorPage { present: Some(present), closing_note: note, ..off };
    m.add("second-factor", &on);
    let (closing, closing_note) = (vec![m.w(LONG), m.w("Bakery")], Some(words.remove_closes_unchecked));
    m.add("second-factor-required", &SecondFactorPage { closing, closing_note, ..on });
    let set_up = SetUpFactorPage {
        shell: shell(words.title_set_up),
        form: form(502),
        qr: QR.to_owned(),
        seed: m.w("GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ"),
        email: m.w("ines@morgenbrot.example"),
        next: "/acc_1/links".to_owned(),
        back: "/me/second-factor?next=%2Facc_1%2Flinks".to_owned(),
        sealed: m.w("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA"),
        code: Field::default(),
    };
    m.add("second-factor-set-up", &set_up);
    let code = m.bad("000000", words.wrong_first_code);
    m.add("second-factor-set-up-error", &SetUpFactorPage { code, form: m.refused(502), ..set_up });
    let codes = vec![m.w("aiba-eaqc-aiba-eaqc"); 10];
    let text = codes.join("\n");
    m.add(
        "recovery-codes",
        &RecoveryCodesPage { shell: shell(words.title), codes, text, next: "/acc_1/links".to_owned() },
    );
}
