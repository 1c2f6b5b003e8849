//! The generators and compilers: those of package registries are installed below the target folder, in versions that are
//! fixed here; those of the system must be there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::tool_folder::{ToolFolder, run, runs};

/// The packages for Python.
const PYTHON_PACKAGES: &str = include_str!("requirements.txt");

/// The packages for Node.
const NODE_PACKAGES: &str = include_str!("package.json");

/// The generator for Rust that reads OpenAPI 3.0 only.
const PROGENITOR: (&str, &str) = ("cargo-progenitor", "0.15.1");

/// Programs of the system, an argument with which they only tell their version, and the package of Debian with each.
const OF_THE_SYSTEM: [(&str, &str, &str); 5] = [
    ("python3", "--version", "python3-venv"),
    ("npm", "--version", "npm"),
    ("java", "-version", "default-jre-headless"),
    ("go", "version", "golang-go"),
    ("php", "--version", "php-cli"),
];

/// Libraries of the system that generated clients need, and the package of Debian with each.
const LIBRARIES: [(&str, &str); 2] = [
    ("/usr/share/gocode/src/gopkg.in/validator.v2", "golang-gopkg-validator.v2-dev"),
    ("/usr/share/php/GuzzleHttp/autoload.php", "php-guzzlehttp-guzzle"),
];

/// Where the tools are.
pub(super) struct Tools {
    folder: ToolFolder,
}

impl Tools {
    /// Installs what is missing.
    ///
    /// # Errors
    /// If a program of the system is missing; the message names the packages. If a registry cannot be reached.
    pub(super) fn install(root: &Path) -> Result<Self> {
        let programs = OF_THE_SYSTEM.iter().filter(|(program, version, _)| !runs(program, version));
        let libraries = LIBRARIES.iter().filter(|(path, _)| !Path::new(path).exists());
        let missing: Vec<&str> =
            programs.map(|(_, _, package)| *package).chain(libraries.map(|(_, package)| *package)).collect();
        if !missing.is_empty() {
            bail!("programs or libraries are missing; install them: apt-get install {}", missing.join(" "));
        }
        let tools = Self { folder: ToolFolder::at(root.join("target/tools/clients"))? };
        tools.folder.install_python_packages(PYTHON_PACKAGES)?;
        tools.install_node_packages()?;
        let (progenitor, version) = PROGENITOR;
        tools.folder.install_cargo_program(progenitor, version, &[])?;
        Ok(tools)
    }

    /// A program of the packages for Python.
    pub(super) fn python(&self, name: &str) -> PathBuf {
        self.folder.python(name)
    }

    /// A program of the packages for Node.
    pub(super) fn node(&self, name: &str) -> PathBuf {
        self.node_modules().join(".bin").join(name)
    }

    /// The folder of the packages for Node.
    pub(super) fn node_modules(&self) -> PathBuf {
        self.folder.path().join("node_modules")
    }

    /// The generator for Rust that reads OpenAPI 3.0 only.
    pub(super) fn progenitor(&self) -> PathBuf {
        self.folder.cargo_program(PROGENITOR.0)
    }

    /// The folder in which clients in Rust share their compiled dependencies.
    pub(super) fn rust_target(&self) -> PathBuf {
        self.folder.path().join("target")
    }

    fn install_node_packages(&self) -> Result<()> {
        self.folder.unless_installed("package.json", NODE_PACKAGES, |_| {
            run(Command::new("npm")
                .args(["install", "--silent", "--no-audit"])
                .current_dir(self.folder.path()))
        })
    }
}
