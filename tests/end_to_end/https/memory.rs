//! Certificates beyond memory (D185).

use crate::harness::Store;
use crate::harness::https::{ALIAS, API, HttpsScene, SYSTEM, is_refused};

/// One fits into memory. The others are read when a client comes, and a name without a certificate is refused as ever.
#[test]
fn d185_certificates_that_do_not_fit_into_memory_are_served_too() {
    let one = |node: crate::harness::ProgramBuilder| node.setting("certificates-in-memory", "1");
    let Some(mut scene) = HttpsScene::start_on(Store::Embedded, one) else { return };
    scene.await_own_names();
    let node = &mut scene.domains.nodes[0];
    node.stop_and_read_log();
    node.start_again();
    let node = scene.domains.first();
    let client = scene.client(node);
    for host in [SYSTEM, ALIAS, API, SYSTEM, API, ALIAS] {
        assert!(client.connect(host).is_ok(), "{host}");
        assert!(is_refused(&client, "go.unknown.test"));
        let visit = node.visitor().request("GET", "/x", &[("Host", SYSTEM)]);
        assert_eq!(visit.status, 308);
    }
}
