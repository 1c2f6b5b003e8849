//! Signing in at an identity provider (D77), which is another site for the browser: so cookies have to come along.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use signpost_test_servers::identity_provider::{IdentityProviderServer, Person};

use crate::accessibility::{assert_accessible, assert_fits};
use crate::dashboard::Dashboard;
use crate::harness::Program;
use crate::tab::Tab;
use crate::visitor::Visitor;

const CLIENT: &str = "signpost";
const SECRET: &str = "a secret/with+characters";

/// A program beside a provider.
fn start() -> (Program, IdentityProviderServer) {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let origin = format!("http://localhost:{}", address.port());
    let provider =
        IdentityProviderServer::start(CLIENT, SECRET, &format!("{origin}/sign-in/provider/callback"));
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, format!("{SECRET}\n")).unwrap();
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    let program = Program::builder()
        .dashboard_at(address)
        .passing(socket)
        .setting_of_all("dashboard-url", &origin)
        .setting("oidc-issuer", provider.issuer())
        .setting("oidc-client-id", CLIENT)
        .setting("oidc-client-secret-file", secret.to_str().unwrap())
        .setting("oidc-domains", "staff.example")
        .start();
    (program, provider)
}

/// What judges pages is a script itself.
#[track_caller]
fn assert_good(dashboard: &Dashboard, what: &str) {
    assert_accessible(&dashboard.tab, what);
    assert_fits(&dashboard.tab, what);
    dashboard.tab.screenshot(&format!("provider-{what}"));
}

fn connects_signs_in_confirms_and_disconnects(visitor: &Visitor, judge: impl Fn(&Dashboard, &str)) {
    let Some(tab) = Tab::of(visitor) else { return };
    let (program, provider) = start();
    let dashboard = Dashboard::start(program, tab);
    provider
        .sign_in(Person::named("248289761001").with_email("ines@login.example", true).with_name("Ines O."));

    dashboard.visit("/me");
    judge(&dashboard, "not-connected");
    dashboard.enter("a[href='/me/identity']");
    assert_eq!(dashboard.path(), "/sign-in/provider/callback");
    assert!(dashboard.text(".lead").contains("Ines O. (ines@login.example)"), "{}", dashboard.text("main"));
    judge(&dashboard, "bind");
    dashboard.enter("form .go");
    assert_eq!(dashboard.path(), "/me");
    assert_eq!(dashboard.text(".note.ok"), "Connected. From now on you can sign in there.");
    judge(&dashboard, "connected");

    dashboard.send("form[action='/sign-out']", &[]);
    assert_eq!(dashboard.path(), "/sign-in");
    judge(&dashboard, "sign-in");
    dashboard.enter("a[href='/sign-in/provider']");
    assert_eq!(dashboard.path(), format!("/{}/links", dashboard.account));

    dashboard.visit("/confirm?next=/me");
    judge(&dashboard, "confirm");
    dashboard.enter("a[href='/confirm/provider?next=%2Fme']");
    assert_eq!(dashboard.path(), "/me");

    dashboard.enter("form[action='/me/identity/disconnect'] button");
    assert_eq!(dashboard.text(".note.ok"), "Disconnected.");
    dashboard.send("form[action='/sign-out']", &[]);
    dashboard.enter("a[href='/sign-in/provider']");
    assert_eq!(dashboard.text("h1"), "You have no access yet");
    judge(&dashboard, "no-access");
    assert_eq!(provider.refusals(), Vec::<String>::new());
    let log = dashboard.program.log();
    assert!(!log.contains(SECRET) && !log.contains("code~") && !log.contains("access~"), "{log}");
}

#[test]
fn d77_a_person_connects_signs_in_confirms_and_disconnects() {
    connects_signs_in_confirms_and_disconnects(&Visitor::default(), assert_good);
}

#[test]
fn d77_a_person_does_so_without_scripts() {
    connects_signs_in_confirms_and_disconnects(&Visitor::default().without_scripts(), |_, _| {});
}

#[test]
fn d77_somebody_of_the_domains_and_an_invited_person_come_in_without_a_password() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let (program, provider) = start();
    let dashboard = Dashboard::start(program, tab);
    dashboard.send("form[action='/sign-out']", &[]);
    provider.sign_in(Person::named("1").with_email("nia@staff.example", true).with_name("Nia New"));
    dashboard.enter("a[href='/sign-in/provider']");
    dashboard.visit("/me");
    let email: String = dashboard.tab.evaluate("document.querySelector('#f-email').value");
    assert_eq!(email, "nia@staff.example");
    dashboard.send("form[action='/sign-out']", &[]);

    let invited =
        ["user", "invite", "--json", "--email", "kofi@example.com", "--account", &dashboard.account];
    let invited = dashboard.program.command(&[&invited[..], &["--role", "editor"]].concat());
    let url = invited["invite_url"].as_str().unwrap();
    let path = format!("/invitation/{}", url.split_once("/invitation/").unwrap().1);
    provider.sign_in(Person::named("2").with_email("kofi@elsewhere.example", true));
    dashboard.visit(&path);
    assert_good(&dashboard, "invitation");
    dashboard.enter("a[href$='/provider']");
    assert_eq!(provider.last_login_hint().as_deref(), Some("kofi@example.com"));
    assert_good(&dashboard, "accept");
    dashboard.send("form", &[("name", "Kofi Mensah")]);
    assert_eq!(dashboard.path(), format!("/{}/links", dashboard.account));
    assert_eq!(provider.refusals(), Vec::<String>::new());
}
