//! Samples of the pages with one card, and of the user's own settings.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    ChooserPage, ConfirmPage, ErrorKind, ErrorPage, Field, Form, InvitationPage, Invitee, KeptFormPage,
    MePage, Membership, NavItem, NotSignedIn, Notice, PasswordForm, ProfileForm, ResetPage, Select,
    SessionRow, SignInElsewherePage, SignInPage, StartPage, UserRef,
};
use signpost_domain::Theme;

use crate::samples::{Maker, edit, form, key};

pub(crate) fn add(m: &Maker) {
    start(m);
    sign_in(m);
    sign_in_elsewhere(m);
    invitation(m);
    passwords(m);
    chooser(m);
    errors(m);
    me(m);
}

fn start(m: &Maker) {
    let empty = StartPage {
        card: m.card(),
        action: format!("/start/{}", m.w("qW3rTy")),
        form: form(1),
        name: Field::default(),
        email: Field::default(),
        password: Some(Field::default()),
        time_zone: m.zones("UTC"),
        time_zone_is_untouched: true,
    };
    m.add("start", &empty);
    let email = m.field("ines@morgenbrot.example");
    m.add("start-named-by-proxy", &StartPage { email, password: None, ..empty.clone() });
    let refused = StartPage {
        name: m.field("Ines Okafor"),
        email: m.bad("ines@", "An e-mail address needs a domain after the @, such as ines@example.com."),
        password: Some(m.bad("", ENGLISH.password_too_weak)),
        time_zone: Select { error: m.some("There is no such time zone."), ..m.zones("Europe/Berlin") },
        time_zone_is_untouched: false,
        form: m.refused(1),
        ..empty
    };
    m.add("start-error", &refused);
}

fn sign_in(m: &Maker) {
    let empty = SignInPage {
        card: m.card(),
        form: form(2),
        next: String::new(),
        email: Field::default(),
        remember: false,
        wait: None,
        provider: None,
    };
    m.add("sign-in", &empty);
    let mut card = m.card();
    card.notice = Some(Notice::ok(m.w(ENGLISH.said.signed_out)));
    m.add("sign-in-notice", &SignInPage { card, ..empty.clone() });
    let refused = SignInPage {
        form: Form { general_error: m.some(ENGLISH.wrong_sign_in), ..form(2) },
        next: m.w("/acc_019b5a3b11aa7c3e8899aabbccddee01/keys"),
        email: m.field("ines@morgenbrot.example"),
        remember: true,
        wait: m.some(&(ENGLISH.wait_seconds)(30)),
        ..empty
    };
    m.add("sign-in-error", &refused);
}

fn sign_in_elsewhere(m: &Maker) {
    let reasons = [
        ("unnamed", NotSignedIn::Unnamed { header: m.w("Remote-Email") }),
        ("unknown", NotSignedIn::Unknown { email: m.w("ines@morgenbrot.example") }),
        ("signed-out", NotSignedIn::SignedOut),
    ];
    for (name, reason) in reasons {
        let page = SignInElsewherePage { card: m.card(), reason, next: m.w("/me") };
        m.add(&format!("sign-in-elsewhere-{name}"), &page);
    }
}

fn invitation(m: &Maker) {
    let time_zone_is_untouched = true;
    let fresh = InvitationPage {
        card: m.card(),
        action: format!("/invitation/{}", m.w("qW3rTy")),
        form: form(3),
        account: m.some("Morgenbrot Bakery"),
        role: m.w("editor"),
        role_sentence: m.w(ENGLISH.role_editor_does),
        email: m.w("kofi@morgenbrot.example"),
        invitee: Invitee::New {
            name: Field::default(),
            password: Some(Field::default()),
            time_zone: m.zones("UTC"),
            time_zone_is_untouched,
        },
        provider: None,
    };
    m.add("invitation-new", &fresh);
    let invitee = Invitee::New {
        name: m.bad("", "Your name is empty."),
        password: Some(m.bad("", ENGLISH.password_too_short)),
        time_zone: m.zones("Asia/Tokyo"),
        time_zone_is_untouched: false,
    };
    m.add("invitation-error", &InvitationPage { invitee, form: m.refused(3), ..fresh.clone() });
    m.add("invitation-signed-in", &InvitationPage { invitee: Invitee::SignedIn, ..fresh.clone() });
    let sign_in = format!("/sign-in?next={}", m.w("/invitation/qW3rTy"));
    let invitee = Invitee::SignedOut { sign_in };
    m.add("invitation-signed-out", &InvitationPage { invitee, account: None, ..fresh.clone() });
    let user = UserRef { name: m.w("Ines"), email: m.w("ines@morgenbrot.example"), is_operator: true };
    let invitee = Invitee::Other { user, sign_out_key: key(4) };
    m.add("invitation-other", &InvitationPage { invitee, ..fresh.clone() });
    let invitee = Invitee::NamedOther { named: m.w("ines@morgenbrot.example") };
    m.add("invitation-named-other", &InvitationPage { invitee, ..fresh.clone() });
    let invitee = Invitee::New {
        name: Field::default(),
        password: None,
        time_zone: m.zones("UTC"),
        time_zone_is_untouched,
    };
    m.add("invitation-named", &InvitationPage { invitee, ..fresh });
}

fn passwords(m: &Maker) {
    let reset = ResetPage {
        card: m.card(),
        action: format!("/reset/{}", m.w("qW3rTy")),
        form: form(5),
        email: m.w("ines@morgenbrot.example"),
        password: Field::default(),
    };
    m.add("reset", &reset);
    let password = m.bad("", ENGLISH.password_too_short);
    m.add("reset-error", &ResetPage { password, form: m.refused(5), ..reset });
    let confirm = ConfirmPage {
        card: m.card(),
        form: form(6),
        next: m.w("/acc_019b5a3b11aa7c3e8899aabbccddee01/keys"),
        email: m.w("ines@morgenbrot.example"),
        needs_code: false,
        cancel: m.w("/acc_019b5a3b11aa7c3e8899aabbccddee01/keys"),
        wait: None,
        provider: None,
        asks_password: true,
    };
    m.add("confirm", &confirm);
    let form = Form { general_error: m.some(ENGLISH.wrong_password), ..form(6) };
    let needs_code = true;
    m.add(
        "confirm-error",
        &ConfirmPage { form, needs_code, wait: m.some(&(ENGLISH.wait_minutes)(4)), ..confirm },
    );
}

fn chooser(m: &Maker) {
    let user = UserRef { name: m.w("Ines Okafor"), email: m.w("ines@morgenbrot.example"), is_operator: true };
    let membership = |number: u8, name: &str, role: &str| Membership {
        account: format!("acc_019b5a3b11aa7c3e8899aabbccddee0{number}"),
        name: m.w(name),
        role: m.w(role),
    };
    let memberships = vec![
        membership(1, "Morgenbrot Bakery", "Owner"),
        membership(2, "مقهى الأمل", "Viewer"),
        membership(
            3,
            "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
            "Editor",
        ),
    ];
    let full = ChooserPage { card: m.card(), user, memberships, sign_out_key: key(7) };
    m.add("chooser", &full);
    m.add("chooser-empty", &ChooserPage { memberships: Vec::new(), ..full });
}

fn errors(m: &Maker) {
    for kind in ErrorKind::ALL {
        let page = ErrorPage::of(m.card(), kind, m.some("/acc_019b5a3b11aa7c3e8899aabbccddee01/links"));
        m.add(&format!("error-{}-{kind:?}", kind.status()).to_lowercase(), &page);
    }
    let path = m.w("/acc_019b5a3b11aa7c3e8899aabbccddee01/groups");
    let fields = [("idempotency_key".to_owned(), key(3)), (m.w("name"), m.w("Spring"))];
    let kept = |kind, kept, advice: String, first| {
        let words = (ENGLISH.error)(kind);
        let (heading, text) = (words.heading, m.w(words.text));
        KeptFormPage {
            card: m.card(),
            heading,
            text,
            kept,
            advice,
            path: Some(&path),
            fields: fields.iter().collect(),
            typed: fields.iter().collect(),
            password: None,
            first,
        }
    };
    for (name, kind, first) in [
        ("session-ended", ErrorKind::SessionEnded, ("/sign-in", ENGLISH.sign_in)),
        ("factor-needed", ErrorKind::SecondFactorNeeded, ("/me/second-factor", ENGLISH.second_factor.set_up)),
    ] {
        m.add(name, &kept(kind, None, m.w((ENGLISH.error)(kind).advice), Some(first)));
    }
    let advice = m.w(&(ENGLISH.kept.after)(5));
    let away = kept(ErrorKind::Unavailable, Some(ENGLISH.kept.kept), advice, None);
    m.add("store-away", &away);
    m.add("store-away-password", &KeptFormPage { password: Some(Field::default()), ..away });
    let gone = kept(ErrorKind::NotFound, Some(ENGLISH.kept.kept), m.w(ENGLISH.kept.copy), None);
    m.add("gone", &KeptFormPage { path: None, ..gone });
    let page = ErrorPage::of(m.card(), ErrorKind::Failed, None);
    m.add(
        "error-custom",
        &ErrorPage { heading: m.w("A heading"), text: m.w("Text"), advice: m.w("Advice"), ..page },
    );
}

fn me(m: &Maker) {
    let session = |number: usize, agent: &str, is_current| SessionRow {
        id: format!("ses_019b5a3b11aa7c3e8899aabbccddee{number:02}"),
        agent: m.w(agent),
        network: m.w("203.0.113.0/24"),
        signed_in: m.w("26 Nov 2026"),
        last_seen: m.w("2 minutes ago"),
        is_current,
        idempotency_key: key(10 + number),
    };
    let few = MePage {
        second_factor: m.some(ENGLISH.second_factor.off_text),
        identity: None,
        shell: m.own_shell(ENGLISH.title_your_settings, NavItem::Me),
        profile: ProfileForm {
            form: edit(8),
            name: m.field("Ines Okafor"),
            email: m.field("ines@morgenbrot.example"),
            email_needs_password: true,
            email_is_fixed: false,
            time_zone: m.zones("Europe/Berlin"),
            theme: m.theme,
            theme_error: None,
            date_language: m.select(&[("en", "English: 26 Nov 2026"), ("de", "Deutsch: 26.11.2026")]),
            shortcuts: true,
        },
        password: Some(PasswordForm { form: form(9), password: Field::default(), needs_confirmation: true }),
        sessions: vec![session(1, "Firefox on Linux", true)],
        end_others_key: key(40),
    };
    m.add("me", &few);
    let mut named = few.clone();
    (named.password, named.second_factor, named.profile.email_is_fixed) = (None, None, true);
    m.add("me-named-by-proxy", &named);
    let mut full = few;
    full.shell.account = None;
    full.shell.nav = NavItem::None;
    full.shell.shortcuts = false;
    full.shell.user.name = String::new();
    full.profile.form = m.refused(8);
    full.profile.email = m.bad("ines", "An e-mail address needs an @.");
    full.profile.theme_error = m.some("There is no such theme.");
    full.profile.theme = Theme::Dark;
    full.password = Some(PasswordForm {
        form: form(9),
        password: m.bad("", ENGLISH.password_too_weak),
        needs_confirmation: true,
    });
    full.sessions.extend([session(2, "Safari on iPhone", false), session(3, "curl", false)]);
    m.add("me-error", &full);
}
