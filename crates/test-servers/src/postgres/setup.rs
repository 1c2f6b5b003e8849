//! The options and settings of a server.

use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The options of a server.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Also accept TLS.
    pub tls: Option<Tls>,
    /// Run like a production server: committed data survives a crash, and autovacuum runs. Otherwise commits do not wait for
    /// the disk: data survives a stop, but maybe not a [`kill`](super::PostgresServer::kill).
    pub is_durable: bool,
    /// Also listen on a socket in its folder; see [`socket_folder`](super::PostgresServer::socket_folder).
    pub has_socket: bool,
    /// More settings, by the names of `postgresql.conf`. They override the settings made here.
    pub settings: Vec<(String, String)>,
}

/// A certificate and its key, as PEM.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

impl Setup {
    /// Writes the server's settings and the files that they refer to into its folder.
    pub(super) fn write(&self, folder: &Path, port: u16) {
        let Self { tls, is_durable, has_socket, settings } = self;
        let path = folder.display().to_string();
        let on_or_off = |is_on| if is_on { "on" } else { "off" };
        let (durable, port) = (on_or_off(*is_durable), port.to_string());
        let mut text = String::new();
        for (name, value) in [
            ("listen_addresses", "127.0.0.1"),
            ("port", &port),
            ("unix_socket_directories", if *has_socket { &path } else { "" }),
            ("max_connections", "300"),
            // Inside the server's folder, so that it is removed after a kill.
            ("dynamic_shared_memory_type", "mmap"),
            // Log the database for `record_statements`.
            ("log_line_prefix", "%m [%p] %d "),
            ("fsync", durable),
            ("synchronous_commit", durable),
            ("full_page_writes", durable),
            ("autovacuum", durable),
        ] {
            add(&mut text, name, value);
        }
        if let Some(Tls { certificate, key }) = tls {
            add(&mut text, "ssl", "on");
            for (setting, name, content) in
                [("ssl_cert_file", "certificate.pem", certificate), ("ssl_key_file", "key.pem", key)]
            {
                let file = folder.join(name);
                fs::write(&file, content).unwrap();
                fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
                add(&mut text, setting, &file.display().to_string());
            }
        }
        for (name, value) in settings {
            add(&mut text, name, value);
        }
        fs::write(folder.join("server.conf"), text).unwrap();
    }
}

fn add(text: &mut String, name: &str, value: &str) {
    writeln!(text, "{name} = '{}'", value.replace('\'', "''")).unwrap();
}
