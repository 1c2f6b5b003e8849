//! Keys at rest (D192).

use serde_json::{Value, json};
use signpost_test_servers::certificates::LocalCertificate;

use crate::harness::https::{HttpsScene, OWN_NAMES, SYSTEM, await_found, is_refused};
use crate::harness::{Program, Store};

/// Part of every unencrypted key of the program, between its version and its secret number (RFC 5208): an elliptic curve, P-256,
/// and a secret as it follows. A public key has other bytes behind the curve.
const KEY: [u8; 22] = [
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x04,
];

/// The beginning of such a key in base64, as in PEM files and JSON.
const KEY_IN_BASE64: &[u8] = b"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg";

fn contains(content: &[u8], needle: &[u8]) -> bool {
    content.windows(needle.len()).any(|window| window == needle)
}

/// Whether the bytes contain a key, also in hexadecimal digits or base64.
fn has_key(content: &[u8]) -> bool {
    let hexadecimal = KEY.map(|byte| format!("{byte:02x}")).concat();
    [KEY.as_slice(), hexadecimal.as_bytes(), KEY_IN_BASE64, b"PRIVATE KEY"]
        .iter()
        .any(|needle| contains(content, needle))
}

/// A copy of the store, whoever has it, opens no connection.
#[test]
fn d192_no_store_and_no_backup_has_an_unencrypted_key() {
    let Some(scene) = HttpsScene::start() else { return };
    let [account, _] = scene.domains.clients();
    scene.await_own_names();
    scene.activate(&account, "go.shop.test");
    let node = scene.domains.first();
    let mut kept = node.kept();
    assert!(kept.iter().any(|(_, content)| contains(content, SYSTEM.as_bytes())), "the store was read");
    if Store::of_this_run() == Store::Embedded {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy.db");
        assert!(node.run(&["backup", copy.to_str().unwrap()]).status.success());
        let copy = std::fs::read(copy).unwrap();
        assert!(contains(&copy, b"Pebble Intermediate CA"), "the backup has the certificates");
        kept.push(("the backup".to_owned(), copy));
    }
    for (place, content) in kept {
        assert!(!has_key(&content), "a key is in {place}");
    }
    for node in scene.nodes() {
        assert!(!has_key(node.log().as_bytes()), "a key is in the log");
    }
}

/// A lost secrets key: the node starts and says what is wrong. It orders nothing until the operator lets it begin anew.
#[test]
fn d192_with_another_secrets_key_nothing_is_ordered_before_a_reset() {
    let Some(mut scene) = HttpsScene::start_on(Store::Embedded, |node| node) else { return };
    scene.await_own_names();
    scene.replace_secrets_key();
    let node = &mut scene.domains.nodes[0];
    let log = node.stop_and_read_log();
    assert!(!log.contains("still uses the store"), "{log}");
    node.start_again();
    scene.balance_to(&[scene.domains.first()]);
    let node = scene.domains.first();
    node.await_log("the key of a certificate was stored with another `secrets-key`");
    assert!(is_refused(&scene.client(node), SYSTEM));
    node.command(&["certificate", "renew", SYSTEM, "--json"]);
    node.await_log("the account at the certificate authority was stored with another `secrets-key`");
    await_found("the reason", || {
        let shown = node.command(&["certificate", "show", SYSTEM, "--json"]);
        (shown["failure_reason"] == "authority_unavailable").then_some(())
    });
    assert_eq!(scene.pebble.orders(), OWN_NAMES);

    assert_eq!(node.command(&["certificate", "reset", "--yes", "--json"])["removed"], OWN_NAMES);
    scene.await_own_names();
    assert_eq!(scene.pebble.orders(), 2 * OWN_NAMES);
}

/// The key is replaced while the nodes serve: with both keys in the file, and then with the new one alone.
#[test]
fn d192_the_secrets_key_is_replaced_without_a_new_order() {
    let Some(mut scene) = HttpsScene::start() else { return };
    scene.await_own_names();
    let rotate = |node: &Program, more: &[&str]| {
        let output = node.run(&[&["secrets", "rotate", "--json"], more].concat());
        serde_json::from_slice::<Value>(&output.stdout).ok().filter(|_| output.status.success())
    };
    let restart = |scene: &mut HttpsScene| {
        for node in &mut scene.domains.nodes {
            node.stop_and_read_log();
            node.start_again();
        }
        scene.balance_to(&scene.domains.nodes.iter().collect::<Vec<_>>());
        scene.await_own_names();
    };
    assert_eq!(rotate(scene.domains.first(), &["--finish"]), None, "there is no previous key");
    assert_eq!(rotate(scene.domains.first(), &[]).unwrap()["finished"], false);
    assert_eq!(rotate(scene.domains.first(), &[]), None, "it has begun already");
    assert_eq!(scene.secrets_key().len(), 64);
    restart(&mut scene);
    let finished = rotate(scene.domains.first(), &["--finish"]).unwrap();
    assert_eq!((&finished["finished"], &finished["lost"]), (&json!(true), &json!(0)), "{finished}");
    assert_eq!(finished["encrypted"], 1 + OWN_NAMES, "the account and the keys");
    let key = scene.secrets_key();
    assert_eq!(key.len(), 32);
    assert_ne!(key, [7; 32]);
    restart(&mut scene);
    let node = scene.domains.first();
    let [account, _] = scene.domains.clients();
    account.await_health("/health/ready", |answer| answer.body["checks"]["certificates"] == "ok");
    // The account can be used with the new key.
    node.command(&["certificate", "renew", SYSTEM, "--json"]);
    await_found("the renewal", || (scene.pebble.issued() == OWN_NAMES + 1).then_some(()));
    assert_eq!(scene.pebble.orders(), OWN_NAMES + 1);
}

/// The search above finds keys.
#[test]
fn d192_unencrypted_keys_are_recognised() {
    let LocalCertificate { certificate, key } = LocalCertificate::of(&["go.example.com"]);
    let lines: String = key.lines().filter(|line| !line.starts_with('-')).collect();
    assert!(has_key(key.as_bytes()) && has_key(lines.as_bytes()));
    let encoded = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, lines).unwrap();
    assert!(has_key(&encoded));
    assert!(!has_key(certificate.as_bytes()));
}
