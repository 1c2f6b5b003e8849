//! The references that the program is compared with, and a proxy in front of it.

use std::fmt::Write as _;
use std::net::TcpStream;
use std::path::Path;

use anyhow::Result;

use crate::keeper::{Kept, free_port};

/// A server that answers every request with the same redirect, or a proxy. Dropping it stops it.
pub(super) struct Reference {
    server: Kept,
    /// Its addresses.
    pub(super) addresses: Vec<String>,
}

impl Reference {
    /// A bare actix-web program.
    pub(super) fn actix(executable: &Path, core: u32) -> Result<Self> {
        let address = format!("127.0.0.1:{}", free_port()?);
        let command = format!("exec $unprivileged taskset -c {core} '{}' {address}", executable.display());
        Self::start("actix", &command, vec![address])
    }

    /// nginx with a fixed redirect.
    pub(super) fn nginx(core: u32) -> Result<Self> {
        let address = format!("127.0.0.1:{}", free_port()?);
        let server = format!(
            "server {{ listen {address}; location / {{ \
             return 302 https://example.com/shop/0000000/offers?utm_source=newslette; }} }}"
        );
        Self::nginx_with(core, &server, vec![address])
    }

    /// nginx with a fixed redirect over TLS, with this certificate and key in PEM.
    pub(super) fn nginx_over_tls(core: u32, certificate: &str, key: &str) -> Result<Self> {
        let address = format!("127.0.0.1:{}", free_port()?);
        let server = format!(
            "server {{ listen {address} ssl; ssl_certificate https.pem; ssl_certificate_key https.key; location / {{ \
             return 302 https://example.com/shop/0000000/offers?utm_source=newslette; }} }}"
        );
        let files = format!("cat > https.pem <<'END'\n{certificate}END\ncat > https.key <<'END'\n{key}END\n");
        Self::nginx_after(&files, core, &server, vec![address])
    }

    /// nginx as a proxy in front of each of these servers, with the connection settings from the guide for operators.
    pub(super) fn proxy(core: u32, servers: &[String]) -> Result<Self> {
        let mut configuration = String::new();
        let mut addresses = Vec::new();
        for (number, server) in servers.iter().enumerate() {
            let address = format!("127.0.0.1:{}", free_port()?);
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                configuration,
                "upstream u{number} {{ server {server}; keepalive 32; }} \
                 server {{ listen {address}; location / {{ proxy_pass http://u{number}; proxy_http_version 1.1; \
                 proxy_set_header Connection \"\"; proxy_set_header Host $host; \
                 proxy_set_header X-Forwarded-For $remote_addr; }} }}"
            );
            addresses.push(address);
        }
        Self::nginx_with(core, &configuration, addresses)
    }

    fn nginx_with(core: u32, servers: &str, addresses: Vec<String>) -> Result<Self> {
        Self::nginx_after("", core, servers, addresses)
    }

    /// nginx, started after a script in its folder.
    fn nginx_after(script: &str, core: u32, servers: &str, addresses: Vec<String>) -> Result<Self> {
        let configuration = format!(
            "daemon off; worker_processes 1; pid nginx.pid; error_log stderr; events {{ worker_connections 4096; }}\n\
             http {{ access_log off; server_tokens off; keepalive_requests 1000000000; client_body_temp_path a; \
             proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;\n{servers} }}\n"
        );
        let command = format!(
            "{script}cat > nginx.conf <<'END'\n{configuration}END\nPATH=$PATH:/usr/sbin:/usr/local/sbin \
             exec taskset -c {core} nginx -p . -e stderr -c nginx.conf"
        );
        Self::start("nginx", &command, addresses)
    }

    fn start(name: &str, command: &str, addresses: Vec<String>) -> Result<Self> {
        let is_ready = |_: &Path| addresses.iter().all(|address| TcpStream::connect(address).is_ok());
        Ok(Self { server: Kept::start(name, command, is_ready)?, addresses })
    }

    /// The first of its addresses.
    pub(super) fn address(&self) -> String {
        self.addresses.first().cloned().unwrap_or_default()
    }

    pub(super) const fn pid(&self) -> u32 {
        self.server.pid()
    }
}
