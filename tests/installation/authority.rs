//! Pebble and a name server, which run in the system.

use std::thread::sleep;
use std::time::{Duration, Instant};

use signpost_test_servers::certificates::LocalCertificate;

use crate::system::System;

/// Where its certificate, key and settings are.
const FOLDER: &str = "/etc/pebble";

/// The name server that comes with Pebble. It answers every question with the loopback address.
const NAME_SERVER: &str = "127.0.0.1:8053";

const SETTINGS: &str = r#"{"pebble": {"listenAddress": "127.0.0.1:14000", "managementListenAddress": "127.0.0.1:15000",
"certificate": "/etc/pebble/certificate.pem", "privateKey": "/etc/pebble/key.pem", "httpPort": 80, "tlsPort": 443}}"#;

const READY_WITHIN: Duration = Duration::from_mins(1);

/// The options with which the program uses this authority.
pub(crate) const OPTIONS: &str = "--acme-directory https://localhost:14000/dir --acme-roots /etc/pebble/certificate.pem --dns-servers 127.0.0.1:8053";

/// Starts an authority whose certificates every program of the system accepts. It ends with the system, to which the hostnames
/// lead.
pub(crate) fn start(system: &System, hostnames: &[&str]) {
    // The small system has no names of its own.
    system.write("/etc/hosts", &format!("127.0.0.1 localhost {}\n", hostnames.join(" ")));
    system.succeed(&format!("mkdir {FOLDER}"));
    let LocalCertificate { certificate, key } = LocalCertificate::new();
    for (name, content) in
        [("certificate.pem", certificate.as_str()), ("key.pem", &key), ("settings.json", SETTINGS)]
    {
        system.write(&format!("{FOLDER}/{name}"), content);
    }
    system.succeed(&format!(
        "(pebble-challtestsrv -defaultIPv4 127.0.0.1 -defaultIPv6 '' -http01 '' -https01 '' -tlsalpn01 '' \
          & PEBBLE_VA_NOSLEEP=1 PEBBLE_WFE_NONCEREJECT=0 pebble -config {FOLDER}/settings.json -dnsserver {NAME_SERVER} \
          &) > {FOLDER}/log 2>&1"
    ));
    make_trusted(system);
}

/// Adds the root of the certificates that it issues to those of the system.
fn make_trusted(system: &System) {
    let root = format!(
        "curl --silent --fail --cacert {FOLDER}/certificate.pem --output /usr/local/share/ca-certificates/pebble.crt \
         https://localhost:15000/roots/0"
    );
    let start = Instant::now();
    while !system.run(&root).status.success() {
        assert!(start.elapsed() < READY_WITHIN, "{}", system.read(&format!("{FOLDER}/log")));
        // Poll: a server in another system sends no event.
        sleep(Duration::from_millis(50));
    }
    system.succeed("update-ca-certificates");
}
