//! Samples of the pages about signing in at an identity provider.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    AcceptIdentityPage, BindIdentityPage, ConfirmPage, Field, IdentitySection, InvitationPage, Invitee,
    MePage, NavItem, ProfileForm, ProviderLink, Select, SignInPage,
};

use crate::samples::{Maker, form, key};

pub(crate) fn add(m: &Maker) {
    ways_in(m);
    forms(m);
    section(m);
}

fn link(m: &Maker, text: fn(&str) -> String, href: &str) -> ProviderLink {
    ProviderLink { label: text(&m.w("login.example.com")), href: href.to_owned() }
}

fn ways_in(m: &Maker) {
    let sign_in = SignInPage {
        card: m.card(),
        form: form(1),
        next: String::new(),
        email: Field::default(),
        remember: false,
        wait: None,
        provider: Some(link(m, ENGLISH.provider.sign_in_with, "/sign-in/provider")),
    };
    m.add("sign-in-provider", &sign_in);
    let invitation = InvitationPage {
        card: m.card(),
        action: format!("/invitation/{}", m.w("qW3rTy")),
        form: form(2),
        account: m.some("Morgenbrot Bakery"),
        role: m.w("editor"),
        role_sentence: m.w(ENGLISH.role_editor_does),
        email: m.w("kofi@morgenbrot.example"),
        invitee: Invitee::New {
            name: Field::default(),
            password: Some(Field::default()),
            time_zone: m.zones("UTC"),
            time_zone_is_untouched: true,
        },
        provider: Some(link(m, ENGLISH.provider.accept_with, "/invitation/x/provider")),
    };
    m.add("invitation-provider", &invitation);
    let confirm = ConfirmPage {
        card: m.card(),
        form: form(3),
        next: m.w("/me"),
        email: m.w("kofi@morgenbrot.example"),
        needs_code: false,
        cancel: "/me".to_owned(),
        wait: None,
        provider: Some(link(m, ENGLISH.provider.confirm_with, "/confirm/provider")),
        asks_password: true,
    };
    m.add("confirm-provider", &confirm);
    m.add("confirm-provider-only", &ConfirmPage { asks_password: false, ..confirm });
}

fn forms(m: &Maker) {
    let bind = BindIdentityPage {
        card: m.card(),
        form: form(4),
        identity: m.w("c2VhbGVk"),
        provider: m.w("login.example.com"),
        person: m.w("Kofi Mensah (kofi@morgenbrot.example)"),
    };
    m.add("bind-identity", &bind);
    let accept = AcceptIdentityPage {
        card: m.card(),
        action: format!("/invitation/{}/provider", m.w("qW3rTy")),
        form: form(5),
        identity: m.w("c2VhbGVk"),
        provider: m.w("login.example.com"),
        person: m.w("Kofi Mensah"),
        account: m.some("Morgenbrot Bakery"),
        email: m.w("kofi@morgenbrot.example"),
        name: m.field("Kofi Mensah"),
        time_zone: m.zones("UTC"),
        time_zone_is_untouched: true,
    };
    m.add("accept-identity", &accept);
    let refused = AcceptIdentityPage {
        name: m.bad("", "Your name is empty."),
        time_zone: Select { error: m.some("There is no such time zone."), ..m.zones("Asia/Tokyo") },
        time_zone_is_untouched: false,
        account: None,
        form: m.refused(5),
        ..accept
    };
    m.add("accept-identity-error", &refused);
}

fn section(m: &Maker) {
    let section = IdentitySection {
        provider: m.w("login.example.com"),
        since: m.some("31 January 2026, 10:05"),
        has_password: true,
        idempotency_key: key(6),
    };
    let page = |identity| MePage {
        second_factor: None,
        shell: m.own_shell(ENGLISH.title_your_settings, NavItem::Me),
        profile: ProfileForm { form: form(8), time_zone: m.zones("UTC"), ..ProfileForm::default() },
        password: None,
        identity: Some(identity),
        sessions: Vec::new(),
        end_others_key: key(7),
    };
    m.add("me-connected", &page(section.clone()));
    m.add("me-connected-only", &page(IdentitySection { has_password: false, ..section.clone() }));
    m.add("me-not-connected", &page(IdentitySection { since: None, ..section }));
}
