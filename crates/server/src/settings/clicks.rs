//! The settings of click recording.

use std::path::{Path, PathBuf};

use signpost_enrichment::{SourceError, Sources as Lists};

use super::Database;
use super::error::SettingsError;
use super::setting::Setting;
use super::sources::Sources;
use super::values::DashboardListen;
use super::{catalog, https_catalog};
use crate::secrets_key_file::SecretsKeyFile;

/// The name of the spool's folder in the data folder.
const SPOOL: &str = "signpost-spool";

/// Replaces one of the lists with the text of a file.
type Replace = fn(Lists, &str) -> Result<Lists, SourceError>;

/// How clicks are recorded.
pub(crate) struct ClickSettings {
    /// Whether clicks are recorded.
    pub(crate) are_recorded: bool,
    /// The folder of this node's own data.
    pub(crate) data_dir: PathBuf,
    /// The secret that the hashes of visitors depend on. `None` if the operator named none, or clicks are not recorded.
    pub(crate) secrets_key: Option<SecretsKeyFile>,
    /// The lists that the facts of a click are derived from.
    pub(crate) lists: Lists,
}

impl std::fmt::Debug for ClickSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { are_recorded, data_dir, secrets_key, lists: _ } = self;
        f.debug_struct("ClickSettings")
            .field("are_recorded", are_recorded)
            .field("data_dir", data_dir)
            .field("secrets_key", secrets_key)
            .finish_non_exhaustive()
    }
}

impl ClickSettings {
    /// The folder of the spool.
    pub(crate) fn spool(&self) -> PathBuf {
        self.data_dir.join(SPOOL)
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// One of them is invalid, or a list cannot be read.
    pub(super) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let database = sources.required(&catalog::DATABASE_URL)?;
        let data_dir = sources.optional(&catalog::DATA_DIR)?.unwrap_or_else(|| match &database {
            Database::File(file) => file.path().parent().unwrap_or(Path::new("")).to_owned(),
            Database::Server(_) => PathBuf::new(),
        });
        let mut lists = Lists::default();
        let replace: [(&Setting<PathBuf>, Replace); 4] = [
            (&catalog::CLICK_AGENTS, Lists::with_agents),
            (&catalog::CLICK_BOTS, Lists::with_crawlers),
            (&catalog::CLICK_CHANNELS, Lists::with_channels),
            (&catalog::CLICK_ASSISTANTS, Lists::with_assistants),
        ];
        for (setting, with) in replace {
            let replaced = sources.optional_as(setting, |path| {
                let list = std::fs::read_to_string(&path)
                    .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
                with(lists.clone(), &list).map_err(|error| format!("{}: {error}", path.display()))
            })?;
            if let Some(with_list) = replaced {
                lists = with_list;
            }
        }
        let are_recorded = sources.required(&catalog::CLICK_RECORDING)?;
        // It also seals the keys of certificates, and secrets of people.
        let obtains_certificates = sources.optional(&https_catalog::ACME_EMAIL)?.is_some();
        let has_dashboard = sources.required(&catalog::DASHBOARD_LISTEN)? != DashboardListen::Off;
        let is_needed = are_recorded || obtains_certificates || has_dashboard;
        let secrets_key = if is_needed { secrets_key(sources, &database)? } else { None };
        Ok(Self { are_recorded, data_dir, secrets_key, lists })
    }
}

/// Reads the file of the secrets key. It may be missing only with the embedded store, whose start makes it.
fn secrets_key(sources: &Sources, database: &Database) -> Result<Option<SecretsKeyFile>, SettingsError> {
    let setting = &catalog::SECRETS_KEY;
    match database {
        Database::Server(_) => {
            let open = |path| SecretsKeyFile::open_existing(path).map_err(|error| error.to_string());
            sources.optional_as(setting, open)
        }
        Database::File(database) => {
            let open = |path| SecretsKeyFile::open(path).map_err(|error| error.to_string());
            match sources.optional_as(setting, open)? {
                Some(named) => Ok(Some(named)),
                None => open(database.secrets_key())
                    .map(Some)
                    .map_err(|problem| SettingsError::at(setting.about.key, problem)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn read(given: &[(&'static str, &str)]) -> Result<ClickSettings, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("signpost.toml");
        std::fs::write(&file, "").unwrap();
        let flags: BTreeMap<_, _> = given.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        let sources = Sources::gather(flags, std::iter::empty(), Some(file)).unwrap();
        ClickSettings::read(&sources).map_err(|error| error.to_string())
    }

    #[test]
    fn d61_the_spool_is_beside_the_embedded_database_by_default() {
        for (given, expected) in [
            (vec![("database-url", "sqlite:///var/lib/here/links.db")], "/var/lib/here/signpost-spool"),
            (vec![("database-url", "postgres://user@db.example/signpost")], "signpost-spool"),
            (
                vec![("database-url", "sqlite:///var/lib/here/links.db"), ("data-dir", "/srv/data")],
                "/srv/data/signpost-spool",
            ),
        ] {
            assert_eq!(read(&given).unwrap().spool(), Path::new(expected));
        }
    }

    #[test]
    fn d61_the_secrets_key_is_beside_the_embedded_database_by_default() {
        let path = |given: &[(&'static str, &str)]| {
            read(given).unwrap().secrets_key.map(|file| file.path().to_owned())
        };
        let (embedded, server) = (
            ("database-url", "sqlite:///var/lib/here/links.db"),
            ("database-url", "postgres://user@db.example/signpost"),
        );
        let named = ("secrets-key", "/srv/nowhere.key");
        assert_eq!(path(&[embedded]), Some("/var/lib/here/links-secrets.key".into()));
        assert_eq!(path(&[embedded, named]), Some("/srv/nowhere.key".into()));
        assert_eq!(path(&[server]), None);
        assert_eq!(path(&[server, named, ("click-recording", "off"), ("dashboard-listen", "off")]), None);
        let message = read(&[server, named]).unwrap_err();
        assert!(message.contains("secrets-key") && message.contains("/srv/nowhere.key"), "{message}");
    }

    #[test]
    fn d61_recording_is_on_or_off() {
        assert!(read(&[]).unwrap().are_recorded);
        assert!(!read(&[("click-recording", "off")]).unwrap().are_recorded);
        let message = read(&[("click-recording", "maybe")]).unwrap_err();
        assert!(message.contains("click-recording") && message.contains("on or off"), "{message}");
    }

    #[test]
    fn d61_an_invalid_list_is_refused_with_the_line_of_the_error() {
        let list = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(list.path(), "# fine\nsomebot\n((\n").unwrap();
        let path = list.path().to_str().unwrap();
        let message = read(&[("click-bots", path)]).unwrap_err();
        assert!(message.contains("click-bots") && message.contains("line 3"), "{message}");
        let message = read(&[("click-channels", "/nowhere/list")]).unwrap_err();
        assert!(message.contains("click-channels") && message.contains("cannot read"), "{message}");
    }
}
