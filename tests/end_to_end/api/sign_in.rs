//! Signing in with more than a password, on every store: with a second factor (ADR 73), and at an identity provider (D77).

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use signpost_test_servers::oidc_provider::OidcProvider;
use tempfile::TempDir;

use crate::harness::https::with_secrets_key;
use crate::harness::{Authenticator, PASSWORD, Person, Program};

const CLIENT: &str = "signpost";
const SECRET: &str = "a secret/with+characters";

#[test]
fn a_code_is_asked_for_after_the_password_on_every_store() {
    let (_secrets, builder) = with_secrets_key(Program::builder());
    let program = builder.start();
    let (mut person, account) = Person::owner(&program);
    let email = format!("{}@example.com", account.get(4..).unwrap());
    let page = person.get("/me/second-factor/set-up").expect_status(200);
    let app = Authenticator::with_typed(&page.commands()[0]);
    let (key, sealed, code) = (page.hidden("idempotency_key"), page.hidden("sealed"), app.code(0));
    let form = [("idempotency_key", key.as_str()), ("sealed", &sealed), ("code", &code)];
    let codes = person.post("/me/second-factor/set-up", &form).expect_status(200).commands();
    let recovery_codes: Vec<&str> = codes[0].lines().collect();
    assert_eq!(recovery_codes.len(), 10, "{codes:?}");
    let recovery = recovery_codes[0].to_owned();

    let password = [("email", email.as_str()), ("password", PASSWORD)];
    // The code of this step was used for the set-up; a recovery code is used once.
    let next = app.code(1);
    for (code, status) in [(&code, 422), (&next, 303), (&next, 422), (&recovery, 303), (&recovery, 422)] {
        let mut browser = Person::at(&program);
        assert_eq!(browser.post("/sign-in", &password).expect_status(303).location, "/sign-in/code");
        browser.get(&format!("/{account}/links")).expect_status(303);
        browser.post("/sign-in/code", &[("code", code)]).expect_status(status);
        let opened = if status == 303 { 200 } else { 303 };
        browser.get(&format!("/{account}/links")).expect_status(opened);
    }
    let log = program.log();
    for code in recovery_codes.iter().copied().chain([next.as_str()]) {
        assert!(!log.contains(code), "{code} is in the log: {log}");
    }
    // The seed is sealed, and of the codes only hashes are stored. The used one is gone, so the unused ones count.
    let typed = page.commands()[0].clone();
    let seed = app.seed();
    let hexadecimal: Vec<String> = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    let hexadecimal = hexadecimal.concat();
    let secrets = [
        seed.to_vec(),
        hexadecimal.clone().into_bytes(),
        hexadecimal.to_uppercase().into_bytes(),
        typed.split_whitespace().collect::<String>().into_bytes(),
        typed.into_bytes(),
    ];
    let of_codes = recovery_codes.iter().flat_map(|code| [code.replace('-', ""), (*code).to_owned()]);
    let secrets: Vec<Vec<u8>> = secrets.into_iter().chain(of_codes.map(String::into_bytes)).collect();
    let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    let kept = program.kept();
    assert!(kept.iter().any(|(_, bytes)| holds(bytes, email.as_bytes())), "what is kept can be found");
    for (place, bytes) in &kept {
        for (number, secret) in secrets.iter().enumerate() {
            assert!(!holds(bytes, secret), "secret {number} stands in {place}");
        }
    }
}

/// A program beside a certified provider, and the folder of its secrets key; `None` if the provider is not installed.
fn start_beside_provider() -> Option<(TempDir, Program, OidcProvider)> {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let origin = format!("http://localhost:{}", address.port());
    let provider = OidcProvider::try_start(CLIENT, SECRET, &format!("{origin}/sign-in/provider/callback"));
    let provider = provider.inspect_err(|absence| absence.tell("a certified identity provider")).ok()?;
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, format!("{SECRET}\n")).unwrap();
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    let (secrets, builder) = with_secrets_key(Program::builder());
    let program = builder
        .dashboard_at(address)
        .passing(socket)
        .setting_of_all("dashboard-url", &origin)
        .setting("oidc-issuer", &provider.issuer())
        .setting("oidc-client-id", CLIENT)
        .setting("oidc-client-secret-file", secret.to_str().unwrap())
        .setting("oidc-domains", "staff.example")
        .start();
    Some((secrets, program, provider))
}

/// What a person does at the provider, whose forms come one after the other: signs in by this name, and consents. Returns how
/// often the provider asked for the password, and the path of the dashboard to which it leads at last.
fn pass(browser: &mut Person, provider: &OidcProvider, url: &str, name: &str) -> (usize, String) {
    let (mut place, mut passwords) = (url.to_owned(), 0);
    for _ in 0..20 {
        if place.starts_with("http://localhost:") {
            return (passwords, place.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap());
        }
        let path = place.strip_prefix(&provider.issuer()).unwrap_or(&place).to_owned();
        let mut page = browser.get(&path);
        if page.status == 200 {
            let prompt = page.hidden("prompt");
            passwords += usize::from(prompt == "login");
            page = browser.post(&path, &[("prompt", &prompt), ("login", name), ("password", "any")]);
        }
        assert!(!page.location.is_empty(), "{} {path}: {}\n{}", page.status, page.body, provider.log());
        place = page.location;
    }
    panic!("the provider leads nowhere: {place}");
}

#[test]
fn d77_a_certified_provider_signs_in_confirms_and_is_disconnected_on_every_store() {
    let Some((_secrets, program, provider)) = start_beside_provider() else { return };
    let (mut owner, account) = Person::owner(&program);
    let mut at_provider = Person::at_site(&provider.address());

    let go = owner.get("/me/identity").expect_status(303);
    let (passwords, callback) = pass(&mut at_provider, &provider, &go.location, "ines");
    assert_eq!(passwords, 1);
    let bind = owner.get(&callback).expect_status(200);
    assert!(bind.body.contains("ines of the staff (ines@staff.example)"), "{}", bind.body);
    let (_, rest) = bind.body.split_once("<form method=\"post\" action=\"").unwrap();
    let action = rest.split('"').next().unwrap().to_owned();
    let sealed: Vec<(String, String)> = hidden_fields(&bind.body);
    let sealed: Vec<(&str, &str)> = sealed.iter().map(|(name, value)| (&**name, &**value)).collect();
    owner.post(&action, &sealed).expect_status(303);
    owner.post("/sign-out", &[]).expect_status(303);

    // The session at the provider is enough to sign in, and too little to confirm.
    let go = owner.get("/sign-in/provider").expect_status(303);
    let (passwords, callback) = pass(&mut at_provider, &provider, &go.location, "ines");
    assert_eq!(passwords, 0);
    owner.get(&callback).expect_status(303);
    owner.get(&format!("/{account}/links")).expect_status(200);
    let go = owner.get("/confirm/provider?next=%2Fme").expect_status(303);
    let (passwords, callback) = pass(&mut at_provider, &provider, &go.location, "ines");
    assert_eq!(passwords, 1);
    assert_eq!(owner.get(&callback).expect_status(303).location.split('?').next(), Some("/me"));

    // A flow ends once.
    owner.get(&callback).expect_status(400);
    owner.post("/me/identity/disconnect", &[]).expect_status(303);
    owner.post("/sign-out", &[]).expect_status(303);

    // Somebody else of the domain becomes a user.
    let mut at_provider = Person::at_site(&provider.address());
    let mut newcomer = Person::at(&program);
    let go = newcomer.get("/sign-in/provider").expect_status(303);
    let (_, callback) = pass(&mut at_provider, &provider, &go.location, "nia");
    newcomer.get(&callback).expect_status(303);
    assert!(newcomer.get("/me").expect_status(200).body.contains("nia@staff.example"));
    let log = program.log();
    assert!(!log.contains(SECRET) && !log.contains("code="), "{log}");
}

/// The hidden fields of a page.
fn hidden_fields(body: &str) -> Vec<(String, String)> {
    let inputs = body.split("<input type=\"hidden\" name=\"").skip(1);
    inputs
        .map(|rest| {
            let (name, rest) = rest.split_once("\" value=\"").unwrap();
            (name.to_owned(), rest.split('"').next().unwrap().to_owned())
        })
        .collect()
}
