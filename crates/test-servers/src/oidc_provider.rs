//! A private [oidc-provider](https://github.com/panva/node-oidc-provider), an identity provider that the `OpenID` Foundation has
//! certified. [`identity_provider`](crate::identity_provider) misbehaves as tests ask; this one shows that the program gets along
//! with a provider that its authors did not write.

use std::env;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::absence::Absence;
use crate::log_file::LogFile;
use crate::server_process::ServerProcess;

/// The variable that names the folder in which `npm` has installed [`PACKAGES`].
pub const FOLDER_VARIABLE: &str = "SIGNPOST_OIDC_PROVIDER";

/// The list of packages for `npm ci`.
pub const PACKAGES: &str = include_str!("oidc_provider/package.json");

/// The exact versions of these packages, and of those that they need.
pub const LOCKED_PACKAGES: &str = include_str!("oidc_provider/package-lock.json");

const SCRIPT: &str = include_str!("oidc_provider/provider.mjs");

/// A provider with one client. Whoever signs in there as `NAME`, with any password, is `NAME@staff.example`. Dropping it kills
/// it and removes its folder.
#[derive(Debug)]
pub struct OidcProvider {
    _process: ServerProcess,
    folder: PathBuf,
    port: u16,
}

impl OidcProvider {
    /// Starts a provider.
    ///
    /// # Errors
    /// If its packages are not installed.
    ///
    /// # Panics
    /// If they are installed and it does not start.
    pub fn try_start(client_id: &str, client_secret: &str, redirect_uri: &str) -> Result<Self, Absence> {
        let absence = || Absence::of_optional("oidc-provider", "npm", "is not installed".to_owned());
        let packages = env::var_os(FOLDER_VARIABLE).ok_or_else(absence)?;
        let folder = tempfile::Builder::new().prefix("signpost-oidc-provider-").tempdir().unwrap().keep();
        let mut process = ServerProcess::in_folder(&folder);
        std::fs::write(folder.join("provider.mjs"), SCRIPT).unwrap();
        let log = LogFile::in_folder(&folder);
        let mut command = Command::new("node");
        command.arg("provider.mjs").arg(Path::new(&packages)).args([client_id, client_secret, redirect_uri]);
        command.stderr(log.append());
        let (_, output) = process.start_with_pipes(&mut command, &folder);
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        let port = line.trim().parse();
        let port = port.unwrap_or_else(|_| panic!("oidc-provider does not start: {}", log.since(0)));
        Ok(Self { _process: process, folder, port })
    }

    /// Its identifier, an origin.
    #[must_use]
    pub fn issuer(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What it has logged, which includes its errors.
    #[must_use]
    pub fn log(&self) -> String {
        LogFile::in_folder(&self.folder).since(0)
    }
}
