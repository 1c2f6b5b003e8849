//! The settings file that `signpost setup` writes.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::NamedTempFile;
use toml::{Table, Value};

use super::answers::Answers;
use crate::settings::Flags;

/// What became of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// It had this content before.
    Unchanged,
    /// It is new, or has replaced another one, which is kept under this name.
    Changed { kept: Option<PathBuf> },
}

/// The settings of the file; none if there is no file.
///
/// # Errors
/// It cannot be read, or is no TOML.
pub(super) fn read(path: &Path) -> anyhow::Result<Table> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Table::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    text.parse().with_context(|| format!("{} is no TOML; correct it, or move it away", path.display()))
}

/// The text of the settings file. `existing` are its settings before, which stay unless they are answered anew; `given` are
/// those of the command line, which take precedence.
pub(super) fn content(answers: &Answers, database: &Path, existing: Table, given: &Flags) -> String {
    let Answers { hostname, email, dashboard, api, behind_proxy } = answers;
    let mut settings = existing;
    let mut set = |key: &str, value: String| settings.insert(key.to_owned(), Value::String(value));
    set("system-url", format!("https://{hostname}"));
    if let Some(dashboard) = dashboard {
        set("dashboard-url", format!("https://{dashboard}"));
    }
    if let Some(api) = api.as_ref().filter(|_| !behind_proxy) {
        set("api-hostnames", api.as_str().to_owned());
    }
    set("acme-email", email.as_str().to_owned());
    if *behind_proxy {
        settings.remove("acme-email");
    }
    settings
        .entry("database-url")
        .or_insert_with(|| Value::String(format!("sqlite://{}", database.display())));
    settings.extend(given.iter().map(|(key, value)| ((*key).to_owned(), Value::String(value.clone()))));
    format!("# Made by `signpost setup`. `signpost serve --help` describes all settings.\n{settings}")
}

/// Writes a file that only its owner may read, unless it has this content already. Another content is kept beside it.
pub(super) fn write(path: &Path, content: &str) -> io::Result<Written> {
    let before = match fs::read_to_string(path) {
        Ok(before) => Some(before),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if before.as_deref() == Some(content) {
        return Ok(Written::Unchanged);
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(content.as_bytes())?;
    file.as_file().sync_all()?;
    let kept = match before {
        Some(_) => Some(keep(path)?),
        None => None,
    };
    file.persist(path)?;
    Ok(Written::Changed { kept })
}

/// Gives the file a second name, the first free one of `signpost.toml.1`, `signpost.toml.2`, …
fn keep(path: &Path) -> io::Result<PathBuf> {
    for number in 1_u32.. {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        match fs::hard_link(path, &name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            outcome => return outcome.map(|()| name.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use signpost_domain::{Email, Hostname};

    use super::*;

    fn answers() -> Answers {
        Answers {
            hostname: Hostname::parse("go.example.com").unwrap(),
            email: Email::parse("ada@example.com").unwrap(),
            dashboard: Hostname::parse("dash.example.com").ok(),
            api: Hostname::parse("api.example.com").ok(),
            behind_proxy: false,
        }
    }

    fn lines(answers: &Answers, given: &Flags) -> Vec<String> {
        lines_after("", answers, given)
    }

    fn lines_after(existing: &str, answers: &Answers, given: &Flags) -> Vec<String> {
        let database = Path::new("/var/lib/signpost/signpost.db");
        let content = content(answers, database, existing.parse().unwrap(), given);
        content.lines().skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn d205_answers_become_settings() {
        let expected = [
            "acme-email = \"ada@example.com\"",
            "api-hostnames = \"api.example.com\"",
            "dashboard-url = \"https://dash.example.com\"",
            "database-url = \"sqlite:///var/lib/signpost/signpost.db\"",
            "system-url = \"https://go.example.com\"",
        ];
        assert_eq!(lines(&answers(), &Flags::new()), expected);
        let behind_proxy = Answers { behind_proxy: true, ..answers() };
        assert_eq!(lines(&behind_proxy, &Flags::new()), expected[2..]);
    }

    #[test]
    fn d205_settings_of_the_command_line_are_kept_with_their_quotes() {
        let given = Flags::from([("acme-email", "a\"b@example.com".to_owned())]);
        assert!(
            lines(&answers(), &given)[0].starts_with("acme-email = 'a\"b@example.com'"),
            "{:?}",
            lines(&answers(), &given)
        );
    }

    #[test]
    fn d205_other_settings_of_the_file_stay() {
        let existing = "acme-email = \"bob@example.com\"\nedge-addresses = [\"192.0.2.1\"]\ndatabase-url = \"postgres://db/s\"\n";
        let expected = [
            "acme-email = \"ada@example.com\"",
            "api-hostnames = \"api.example.com\"",
            "dashboard-url = \"https://dash.example.com\"",
            "database-url = \"postgres://db/s\"",
            "edge-addresses = [\"192.0.2.1\"]",
            "system-url = \"https://go.example.com\"",
        ];
        assert_eq!(lines_after(existing, &answers(), &Flags::new()), expected);
        let behind_proxy = Answers { behind_proxy: true, api: None, dashboard: None, ..answers() };
        assert_eq!(
            lines_after(existing, &behind_proxy, &Flags::new()),
            [expected[3], expected[4], expected[5]]
        );
    }

    #[test]
    fn d205_unreadable_file_is_named_before_anything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("signpost.toml");
        assert!(read(&path).unwrap().is_empty());
        fs::write(&path, "system-url = \n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("signpost.toml is no TOML"));
    }

    #[test]
    fn d205_same_file_is_not_written_again_and_another_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("etc/signpost.toml");
        assert_eq!(write(&path, "a = 1\n").unwrap(), Written::Changed { kept: None });
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(write(&path, "a = 1\n").unwrap(), Written::Unchanged);
        for number in 1..=2 {
            let kept = folder.path().join(format!("etc/signpost.toml.{number}"));
            let content = format!("a = {}\n", number + 1);
            assert_eq!(write(&path, &content).unwrap(), Written::Changed { kept: Some(kept.clone()) });
            assert_eq!(fs::read_to_string(kept).unwrap(), format!("a = {number}\n"));
        }
    }
}
