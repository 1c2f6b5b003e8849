//! The program as an operator's shell finds it.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::program::Program;

impl Program {
    /// A line of a shell in which `signpost` is this program, on the same store and plans.
    pub fn shell(&self, line: &str) -> Command {
        let known = self.command_line(&[]);
        let folder = Path::new(known.get_program()).parent().unwrap();
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let path = [folder.as_os_str(), &rest].join(OsStr::new(":"));
        let mut shell = Command::new("sh");
        for (name, value) in known.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.env("PATH", path).args(["-c", line]).current_dir(self.folder()).stdin(Stdio::null());
        shell
    }

    /// The URL of its database on PostgreSQL.
    pub(super) fn database_url(&self) -> Option<String> {
        let known = self.command_line(&[]);
        let mut values = known.get_envs().filter(|(name, _)| *name == "SIGNPOST_DATABASE_URL");
        values.find_map(|(_, value)| Some(value?.to_str().unwrap().to_owned()))
    }
}
