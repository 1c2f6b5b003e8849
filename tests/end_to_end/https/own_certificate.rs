//! The operator's own certificate in files (D180).

use std::fs;

use signpost_test_servers::certificates::LocalCertificate;
use signpost_test_servers::https_client::HttpsClient;
use tempfile::TempDir;

use crate::harness::https::{SYSTEM, await_found, https_client, is_refused, with_certificate};
use crate::harness::{Program, ProgramBuilder};

/// A certificate and its key in files, and a program that serves them.
struct Files {
    folder: TempDir,
    program: Program,
}

impl Files {
    fn new(first: &LocalCertificate) -> Self {
        Self::with(first, |node| node)
    }

    /// A program with additional settings.
    fn with(first: &LocalCertificate, set_up: impl FnOnce(ProgramBuilder) -> ProgramBuilder) -> Self {
        let (folder, node) = with_certificate(Program::builder(), first);
        let program = set_up(node).start();
        Self { folder, program }
    }

    /// Replaces a file as programs that obtain certificates do.
    fn replace(&self, name: &str, content: &str) {
        let new = self.folder.path().join("new");
        fs::write(&new, content).unwrap();
        fs::rename(new, self.folder.path().join(name)).unwrap();
    }

    /// A client that trusts only this certificate.
    fn client(&self, trusted: &LocalCertificate) -> HttpsClient {
        https_client(&self.program, &trusted.certificate)
    }

    #[track_caller]
    fn await_served(&self, certificate: &LocalCertificate) {
        let client = self.client(certificate);
        await_found("the certificate", || client.connect(SYSTEM).ok());
    }
}

/// A renewed certificate is served without a restart. Half of a pair changes nothing, so the order of the files does not matter.
#[test]
fn d180_replaced_certificate_files_are_served_and_a_broken_pair_is_not() {
    let [first, second, third] = [(); 3].map(|()| LocalCertificate::of(&[SYSTEM, "*.links.test"]));
    let files = Files::new(&first);
    let link = files.program.first_account().new_redirect();
    let path = format!("/{}", link["slug"].as_str().unwrap());
    assert_eq!(files.client(&first).get(SYSTEM, &path).unwrap().status, 302);
    assert_eq!(files.client(&first).get("a.links.test", "/x").unwrap().status, 404);
    assert!(is_refused(&files.client(&first), "b.a.links.test"));
    assert!(files.client(&second).connect(SYSTEM).is_err());

    files.replace("key.pem", &second.key);
    files.replace("chain.pem", &second.certificate);
    files.await_served(&second);
    assert!(files.client(&first).connect(SYSTEM).is_err());

    files.replace("key.pem", &third.key);
    files.program.await_log("cannot use the changed certificate; the previous one is still served");
    assert_eq!(files.client(&second).get(SYSTEM, &path).unwrap().status, 302);
    files.replace("chain.pem", "nonsense");
    assert_eq!(files.client(&second).get(SYSTEM, &path).unwrap().status, 302);
    files.replace("chain.pem", &third.certificate);
    files.await_served(&third);
}

/// Browsers ignore the header without TLS, and must: a network in between could send it. So it is sent over HTTPS only.
#[test]
fn d180_hsts_is_sent_over_https_only_and_plain_http_may_be_answered() {
    let pair = LocalCertificate::of(&[SYSTEM]);
    let files = Files::with(&pair, |node| node.setting("hsts", "86400").setting("plain-http", "answer"));
    let link = files.program.first_account().new_redirect();
    let path = format!("/{}", link["slug"].as_str().unwrap());
    for (path, status) in [(path.as_str(), 302), ("/unknown", 404)] {
        let secure = files.client(&pair).get(SYSTEM, path).unwrap();
        assert_eq!(
            (secure.status, secure.header("strict-transport-security")),
            (status, Some("max-age=86400"))
        );
        let plain = files.program.visitor().request("GET", path, &[("Host", SYSTEM)]);
        assert_eq!((plain.status, plain.header("strict-transport-security")), (status, None));
    }
}
