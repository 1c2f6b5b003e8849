//! Builds the settings with which a program starts.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use tempfile::TempDir;

use super::domains::EDGE;
use super::program::{Place, Program};
use super::store::{Database, Store};

/// The plan `agency` with room for tests that are not about limits.
const PLANS: &str = r#"
[plans.agency]
extends = "agency"
requests_per_minute = 1000000
requests_per_day = 1000000
"#;

/// The arguments that start the program on free ports and make it announce them.
pub const ON_FREE_PORTS: [&str; 8] = [
    "serve",
    "--json",
    "--api-listen",
    "127.0.0.1:0",
    "--link-listen",
    "127.0.0.1:0",
    "--dashboard-listen",
    "127.0.0.1:0",
];

/// The settings and conditions of a program.
#[derive(Default)]
pub struct ProgramBuilder {
    arguments: Vec<String>,
    plans: String,
    builtin_plans: bool,
    shell: String,
    variables: Vec<(String, String)>,
    links: Option<SocketAddr>,
    dashboard: Option<String>,
    passed: Option<TcpListener>,
    /// `None` for the store of this run.
    store: Option<Store>,
}

impl ProgramBuilder {
    /// With a setting, without its leading dashes.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.arguments.extend([format!("--{name}"), value.to_owned()]);
        self
    }

    /// On this store, whatever the store of this run is.
    pub fn on(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// With a setting that the program's other commands get too.
    pub fn setting_of_all(mut self, name: &str, value: &str) -> Self {
        let variable = format!("SIGNPOST_{}", name.replace('-', "_").to_uppercase());
        self.variables.push((variable, value.to_owned()));
        self
    }

    /// With an environment variable that is no setting.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With an edge that custom domains can point to, which they need to be connected.
    pub fn with_edge(self) -> Self {
        self.setting("edge-hostname", EDGE)
    }

    /// With another plan, or a replacement of `agency`, as a table of the plans file.
    pub fn plan(mut self, toml: &str) -> Self {
        self.plans.push_str(toml);
        self
    }

    /// With the built-in plans.
    pub fn builtin_plans(mut self) -> Self {
        self.builtin_plans = true;
        self
    }

    /// On a disk that can be filled: see [`Program::limit_files`].
    pub fn with_disk_that_fills(self) -> Self {
        // The signal for a file that grows too large.
        self.ignoring("XFSZ")
    }

    /// With this signal ignored from the start, such as `HUP` under `nohup`.
    pub fn ignoring(mut self, signal: &str) -> Self {
        self.shell.extend(["trap '' ", signal, ";"]);
        self
    }

    /// With the default action of this signal, also if the tests were started with it ignored, as by `nohup`.
    pub fn heeding(mut self, signal: &str) -> Self {
        // A shell cannot reset a signal that was ignored when it started.
        self.shell.extend(["exec env --default-signal=", signal, r#" "$0" "$@";"#]);
        self
    }

    /// Where the system allows it, with core dumps of any size.
    pub fn with_core_dumps(mut self) -> Self {
        self.shell.push_str("ulimit -c unlimited || true;");
        self
    }

    /// With the listener of links at this address.
    pub fn links_at(mut self, address: SocketAddr) -> Self {
        self.links = Some(address);
        self
    }

    /// With the dashboard at this address.
    pub fn dashboard_at(mut self, address: SocketAddr) -> Self {
        self.dashboard = Some(address.to_string());
        self
    }

    /// Without the dashboard.
    pub fn without_dashboard(mut self) -> Self {
        self.dashboard = Some("off".to_owned());
        self
    }

    /// With a listening socket, as a service manager passes it.
    pub fn passing(mut self, socket: TcpListener) -> Self {
        self.shell.push_str("exec 3<&0 </dev/null;");
        self.passed = Some(socket);
        self
    }

    /// With this umask.
    pub fn umask(mut self, mask: &str) -> Self {
        self.shell.extend(["umask ", mask, ";"]);
        self
    }

    /// With this limit of open files.
    pub fn open_files(mut self, number: u32) -> Self {
        self.shell.extend(["ulimit -n ".to_owned(), number.to_string(), ";".to_owned()]);
        self
    }

    /// Starts it in a new empty folder and waits until it listens.
    pub fn start(self) -> Program {
        let folder = tempfile::tempdir().unwrap();
        self.start_in(Arc::new(folder))
    }

    fn start_in(mut self, folder: Arc<TempDir>) -> Program {
        let mut arguments: Vec<String> = ON_FREE_PORTS.map(str::to_owned).into();
        if !self.builtin_plans {
            let agency = if self.plans.contains("[plans.agency]") { "" } else { PLANS };
            std::fs::write(folder.path().join("plans.toml"), format!("{agency}\n{}", self.plans)).unwrap();
            arguments.extend(["--plans".to_owned(), "plans.toml".to_owned()]);
        }
        let links = self.links.map(|address| address.to_string());
        for (listener, address) in [("--link-listen", links), ("--dashboard-listen", self.dashboard)] {
            if let Some(address) = address {
                let position = arguments.iter().position(|argument| argument == listener).unwrap();
                arguments[position + 1] = address;
            }
        }
        arguments.extend(self.arguments);
        // A machine that runs many tests may delay a disk for longer than the default. A test about time sets
        // its own limit.
        self.variables.push(("SIGNPOST_STORE_TIMEOUT".to_owned(), "30s".to_owned()));
        // A test that names a database needs no new one.
        let is_named = self.variables.iter().any(|(name, _)| name == "SIGNPOST_DATABASE_URL");
        let store = self.store.unwrap_or_else(Store::of_this_run);
        let database = if is_named { None } else { store.database() };
        self.variables.extend(database.iter().flat_map(Database::variables));
        let place = Place {
            folder,
            database: database.map(Arc::new),
            shell: self.shell,
            passed: self.passed.map(Arc::new),
        };
        Program::launch(place, arguments, self.variables)
    }
}
