//! Installs the servers, the browser and the tools of the tests from the system's packages, if they are missing and that is
//! allowed.
//!
//! The tests need only the programs and start private servers. Services that the packages start are stopped.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use signpost_test_servers::{chromium, pebble, postgres, redis};

use crate::tool_folder::runs;

/// The time limit of the whole installation. Without a network it fails in seconds.
const TIME_LIMIT: Duration = Duration::from_mins(5);

/// With the value 0, nothing is installed.
pub const FORBID_INSTALLATION: &str = "SIGNPOST_INSTALL_SERVERS";

/// A program that tests start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Postgres,
    Redis,
    Pebble,
    Chromium,
    Certutil,
    /// Makes the system that boots to test the package.
    Mmdebstrap,
    /// Boots it.
    Nspawn,
}

impl Wanted {
    const ALL: [Self; 7] = [
        Self::Postgres,
        Self::Redis,
        Self::Pebble,
        Self::Chromium,
        Self::Certutil,
        Self::Mmdebstrap,
        Self::Nspawn,
    ];
    const SERVERS: [Self; 2] = [Self::Postgres, Self::Redis];

    fn is_installed(self) -> bool {
        match self {
            Self::Postgres => postgres::programs().is_some(),
            Self::Redis => redis::program().is_some(),
            Self::Pebble => pebble::program().is_some(),
            Self::Chromium => chromium::program().is_some(),
            Self::Certutil => chromium::certutil().is_some(),
            Self::Mmdebstrap => runs("mmdebstrap", "--version"),
            Self::Nspawn => runs("systemd-nspawn", "--version"),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Redis => "Redis",
            Self::Pebble => "Pebble",
            Self::Chromium => "Chromium",
            Self::Certutil => "certutil",
            Self::Mmdebstrap => "mmdebstrap",
            Self::Nspawn => "systemd-nspawn",
        }
    }

    /// The Debian package, which has the same name as its service, if any.
    const fn package(self) -> &'static str {
        match self {
            Self::Postgres => "postgresql",
            Self::Redis => "redis-server",
            Self::Pebble => "pebble",
            Self::Chromium => chromium::PACKAGE,
            Self::Certutil => "libnss3-tools",
            Self::Mmdebstrap => "mmdebstrap",
            Self::Nspawn => "systemd-container",
        }
    }
}

/// Whether the tests find their programs.
#[derive(Debug, PartialEq, Eq)]
pub enum Provision {
    /// All are installed, maybe since a moment ago.
    There,
    /// One line that says what is missing and how to install it.
    Missing(String),
}

/// The rights of this user without a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rights {
    /// All rights.
    Root,
    /// All rights through `sudo`.
    Sudo,
    /// The rights of a normal user.
    User,
}

/// The facts that decide whether packages are installed.
#[derive(Debug, Clone, Copy)]
struct Machine {
    has_apt: bool,
    rights: Rights,
    /// The variable `SIGNPOST_INSTALL_SERVERS` is 0.
    is_forbidden: bool,
}

impl Machine {
    fn this() -> Self {
        let rights = if fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0) {
            Rights::Root
        } else if succeeds("sudo", &["-n", "true"]) {
            Rights::Sudo
        } else {
            Rights::User
        };
        Self {
            has_apt: cfg!(target_os = "linux") && succeeds("apt-get", &["--version"]),
            rights,
            is_forbidden: env::var_os(FORBID_INSTALLATION).is_some_and(|value| value == "0"),
        }
    }

    /// The prefix of installation commands, if they are allowed.
    const fn installs_by(self) -> Option<&'static [&'static str]> {
        if self.is_forbidden || !self.has_apt {
            return None;
        }
        match self.rights {
            Rights::Root => Some(&[]),
            Rights::Sudo => Some(&["sudo", "-n"]),
            Rights::User => None,
        }
    }

    /// How a person installs the packages.
    fn advice(self, packages: &str) -> String {
        if !self.has_apt {
            return format!("install {packages} (package names of Debian)");
        }
        let command = format!("apt-get install -y --no-install-recommends {packages}");
        match self.rights {
            Rights::Root => command,
            Rights::Sudo | Rights::User => format!("sudo {command}"),
        }
    }
}

/// Installs missing programs if that is possible and allowed, and reports its steps on standard error.
pub fn provide() -> io::Result<Provision> {
    let missing = missing();
    if missing.is_empty() {
        return Ok(Provision::There);
    }
    let machine = Machine::this();
    if let Some(by) = machine.installs_by() {
        let wanted = names(&missing, Wanted::name, ", ");
        say(&format!(
            "Installing {wanted} from the system's packages; SIGNPOST_INSTALL_SERVERS=0 forbids it"
        ))?;
        install(&missing, by)?;
    }
    let missing = self::missing();
    if missing.is_empty() {
        return Ok(Provision::There);
    }
    let line = missing_programs(&missing, machine);
    say(&line)?;
    Ok(Provision::Missing(line))
}

/// Prints one line on standard error.
pub fn say(line: &str) -> io::Result<()> {
    writeln!(io::stderr(), "{line}")
}

/// Whether both servers are installed.
pub fn are_installed() -> bool {
    Wanted::SERVERS.into_iter().all(Wanted::is_installed)
}

fn missing() -> Vec<Wanted> {
    Wanted::ALL.into_iter().filter(|wanted| !wanted.is_installed()).collect()
}

fn names(wanted: &[Wanted], name: fn(Wanted) -> &'static str, between: &str) -> String {
    wanted.iter().copied().map(name).collect::<Vec<_>>().join(between)
}

fn missing_programs(missing: &[Wanted], machine: Machine) -> String {
    let (wanted, packages) = (names(missing, Wanted::name, ", "), names(missing, Wanted::package, " "));
    let (verb, pronoun) = if missing.len() == 1 { ("is", "it") } else { ("are", "them") };
    let advice = machine.advice(&packages);
    format!("{wanted} {verb} not installed: the tests that need {pronoun} did NOT run; {advice}")
}

/// One call of `apt-get`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Fetches the lists of packages.
    Update,
    /// Installs the package; later steps run only if it fails.
    Install,
}

/// The state of the package lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lists {
    None,
    /// They may be too old.
    There,
    Fetched,
}

impl Lists {
    const fn steps(self) -> &'static [Step] {
        match self {
            Self::None => &[Step::Update, Step::Install],
            Self::There => &[Step::Install, Step::Update, Step::Install],
            Self::Fetched => &[Step::Install],
        }
    }
}

/// The command line of a step, limited to the remaining seconds.
fn command_line<'a>(step: Step, package: &'a str, by: &[&'a str], seconds: &'a str) -> Vec<&'a str> {
    // `sudo` must run `timeout`, because only root can kill a process of root.
    let mut words =
        [by, &["env", "DEBIAN_FRONTEND=noninteractive", "timeout", "--kill-after=10", seconds]].concat();
    words.extend(["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=60", "-o", "Acquire::Retries=1"]);
    words.extend(["-o", "Acquire::http::Timeout=20", "-o", "Acquire::https::Timeout=20"]);
    match step {
        Step::Update => words.push("update"),
        Step::Install => words.extend(["install", "--no-install-recommends", package]),
    }
    words
}

/// Installs each package separately, so that a missing package does not prevent the others.
fn install(missing: &[Wanted], by: &[&str]) -> io::Result<()> {
    let packages: Vec<_> = missing.iter().copied().map(Wanted::package).collect();
    let has_service = |service: &&str| Path::new("/etc/init.d").join(service).exists();
    // Do not touch services that existed before.
    let own: Vec<_> = packages.iter().copied().filter(has_service).collect();
    let has_lists = fs::read_dir("/var/lib/apt/lists").is_ok_and(|mut lists| {
        lists.any(|list| list.is_ok_and(|list| list.file_name().to_string_lossy().contains("_Packages")))
    });
    let mut lists = if has_lists { Lists::There } else { Lists::None };
    let ends = Instant::now() + TIME_LIMIT;
    for package in &packages {
        for step in lists.steps() {
            let left = ends.saturating_duration_since(Instant::now()).as_secs();
            if left == 0 {
                break;
            }
            let has_succeeded = run(&command_line(*step, package, by, &left.to_string()))?;
            match step {
                Step::Update => lists = Lists::Fetched,
                Step::Install if has_succeeded => break,
                Step::Install => {}
            }
        }
    }
    // Stop the service afterwards: the only way to prevent its start is a file that affects all packages.
    for service in packages.iter().filter(|service| has_service(service) && !own.contains(service)) {
        run(&[by, &["service", service, "stop"]].concat())?;
        run(&[by, &["update-rc.d", service, "disable"]].concat())?;
    }
    Ok(())
}

fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs a command with its output on standard error; returns whether it succeeded.
fn run(words: &[&str]) -> io::Result<bool> {
    say(&format!("+ {}", words.join(" ")))?;
    let [program, arguments @ ..] = words else { return Ok(false) };
    let mut command = Command::new(program);
    let outcome = command.args(arguments).stdin(Stdio::null()).stdout(io::stderr()).status();
    match outcome {
        Ok(status) => Ok(status.success()),
        Err(error) => say(&format!("{program}: {error}")).map(|()| false),
    }
}

#[cfg(test)]
mod tests {
    use super::{Lists, Machine, Rights, Step, Wanted, command_line, missing_programs};

    const ROOT: Machine = Machine { has_apt: true, rights: Rights::Root, is_forbidden: false };

    #[test]
    fn packages_are_installed_only_without_a_password_and_if_allowed() {
        assert_eq!(ROOT.installs_by(), Some([].as_slice()));
        let with_sudo = Machine { rights: Rights::Sudo, ..ROOT };
        assert_eq!(with_sudo.installs_by(), Some(["sudo", "-n"].as_slice()));
        for machine in [
            Machine { rights: Rights::User, ..ROOT },
            Machine { has_apt: false, ..ROOT },
            Machine { is_forbidden: true, ..ROOT },
            Machine { is_forbidden: true, ..with_sudo },
        ] {
            assert_eq!(machine.installs_by(), None, "{machine:?}");
        }
    }

    #[test]
    fn missing_programs_are_reported_with_the_install_command() {
        assert_eq!(
            missing_programs(&Wanted::ALL, Machine { rights: Rights::User, ..ROOT }),
            "PostgreSQL, Redis, Pebble, Chromium, certutil, mmdebstrap, systemd-nspawn are not installed: the tests that \
             need them did NOT run; sudo apt-get install -y --no-install-recommends postgresql redis-server pebble \
             chromium-headless-shell libnss3-tools mmdebstrap systemd-container"
        );
        assert_eq!(
            missing_programs(&[Wanted::Redis], Machine { has_apt: false, ..ROOT }),
            "Redis is not installed: the tests that need it did NOT run; install redis-server (package names of Debian)"
        );
    }

    #[test]
    fn package_lists_are_fetched_first_only_if_missing() {
        assert_eq!(Lists::None.steps(), [Step::Update, Step::Install]);
        assert_eq!(Lists::There.steps(), [Step::Install, Step::Update, Step::Install]);
        // The next package.
        assert_eq!(Lists::Fetched.steps(), [Step::Install]);
    }

    #[test]
    fn installation_is_unattended_and_has_a_time_limit() {
        let line = command_line(Step::Install, "redis-server", &["sudo", "-n"], "300").join(" ");
        assert!(line.starts_with(
            "sudo -n env DEBIAN_FRONTEND=noninteractive timeout --kill-after=10 300 apt-get -q -y "
        ));
        assert!(line.ends_with(" install --no-install-recommends redis-server"));
        let line = command_line(Step::Update, "redis-server", &[], "7").join(" ");
        assert!(line.starts_with("env DEBIAN_FRONTEND=noninteractive timeout --kill-after=10 7 apt-get "));
        assert!(line.ends_with(" update"));
    }
}
