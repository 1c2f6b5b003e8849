//! The generators and compilers: those of package registries are installed below the target folder, in versions that are
//! fixed here; those of the system must be there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

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
    folder: PathBuf,
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
        let tools = Self { folder: root.join("target/tools/clients") };
        fs::create_dir_all(&tools.folder).context("no folder for the tools")?;
        tools.install_python_packages()?;
        tools.install_node_packages()?;
        tools.install_progenitor()?;
        Ok(tools)
    }

    /// A program of the packages for Python.
    pub(super) fn python(&self, name: &str) -> PathBuf {
        self.folder.join("python/bin").join(name)
    }

    /// A program of the packages for Node.
    pub(super) fn node(&self, name: &str) -> PathBuf {
        self.node_modules().join(".bin").join(name)
    }

    /// The folder of the packages for Node.
    pub(super) fn node_modules(&self) -> PathBuf {
        self.folder.join("node_modules")
    }

    /// The generator for Rust that reads OpenAPI 3.0 only.
    pub(super) fn progenitor(&self) -> PathBuf {
        self.folder.join("bin").join(PROGENITOR.0)
    }

    /// The folder in which clients in Rust share their compiled dependencies.
    pub(super) fn rust_target(&self) -> PathBuf {
        self.folder.join("target")
    }

    fn install_python_packages(&self) -> Result<()> {
        self.unless_installed("requirements.txt", PYTHON_PACKAGES, |list| {
            run(Command::new("python3").args(["-m", "venv", "python"]).current_dir(&self.folder))?;
            run(Command::new(self.python("pip")).args(["install", "--quiet", "--requirement"]).arg(list))
        })
    }

    fn install_node_packages(&self) -> Result<()> {
        self.unless_installed("package.json", NODE_PACKAGES, |_| {
            run(Command::new("npm").args(["install", "--silent", "--no-audit"]).current_dir(&self.folder))
        })
    }

    fn install_progenitor(&self) -> Result<()> {
        let (name, version) = PROGENITOR;
        self.unless_installed("progenitor.txt", version, |_| {
            let mut command = crate::workspace::cargo();
            command.args(["install", "--locked", name, "--version", version, "--root"]).arg(&self.folder);
            run(command.arg("--target-dir").arg(self.folder.join("progenitor")))
        })
    }

    /// Writes the list of packages and installs them, unless the list is that of the last installation.
    fn unless_installed(
        &self,
        name: &str,
        list: &str,
        install: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        let (path, done) = (self.folder.join(name), self.folder.join(format!("{name}.installed")));
        if fs::read_to_string(&done).is_ok_and(|installed| installed == list) {
            return Ok(());
        }
        fs::write(&path, list).with_context(|| format!("cannot write {}", path.display()))?;
        install(&path)?;
        fs::write(&done, list).with_context(|| format!("cannot write {}", done.display()))
    }
}

fn runs(program: &str, version: &str) -> bool {
    let status = Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status();
    let name = command.get_program().display().to_string();
    let status = status.with_context(|| format!("cannot start {name}"))?;
    ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}
