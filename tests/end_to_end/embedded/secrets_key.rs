//! The file of the secrets key beside the embedded database (D48, ADR 64).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::harness::{Program, signpost};

const FILE: &str = "signpost-secrets.key";

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn d48_first_start_makes_a_private_secrets_key_whatever_the_umask() {
    let mut program = Program::builder().umask("000").start();
    let path = program.folder().join(FILE);
    let key = fs::read(&path).unwrap();
    assert_eq!((key.len(), fs::metadata(&path).unwrap().permissions().mode() & 0o777), (32, 0o600));
    assert!(program.stop_and_read_log().contains("made the secrets key"));
    program.start_again();
    assert_eq!(fs::read(&path).unwrap(), key);
    assert!(!program.stop_and_read_log().contains("the secrets key"));
    fs::remove_file(&path).unwrap();
    program.start_again();
    assert_ne!(fs::read(&path).unwrap(), key);
    let log = program.stop_and_read_log();
    assert_eq!(log.matches("made a new secrets key, because its file was missing").count(), 1, "{log}");
}

#[test]
fn d48_only_a_node_that_records_clicks_or_has_the_dashboard_makes_a_secrets_key() {
    let program = Program::builder().setting("click-recording", "off").without_dashboard().start();
    assert!(!program.folder().join(FILE).exists());
    let folder = tempfile::tempdir().unwrap();
    for arguments in [["migrate", "--json"], ["account", "list"]] {
        assert!(signpost(folder.path(), &arguments).output().unwrap().status.success());
    }
    assert!(!folder.path().join(FILE).exists());
}

#[test]
fn d48_backup_holds_no_secrets_key() {
    let program = Program::builder().start();
    let key = fs::read(program.folder().join(FILE)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("copy.db");
    assert!(program.run(&["backup", target.to_str().unwrap()]).status.success());
    assert_eq!(names(folder.path()), ["copy-clicks.db", "copy.db"]);
    for name in names(folder.path()) {
        let copy = fs::read(folder.path().join(&name)).unwrap();
        assert!(!copy.windows(key.len()).any(|bytes| bytes == key), "{name}");
    }
}

#[test]
fn d61_start_refuses_a_secrets_key_that_is_short_or_readable_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("named.key");
    for (path, arguments, place) in [
        (folder.path().join(FILE), vec![], "secrets-key: ".to_owned()),
        (named.clone(), vec!["--secrets-key", named.to_str().unwrap()], "--secrets-key: ".to_owned()),
    ] {
        for (length, mode, problem) in [(31, 0o600, "has 31 bytes"), (32, 0o640, "has mode 0640")] {
            fs::write(&path, vec![7; length]).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let serve = [
                &[
                    "serve",
                    "--api-listen=127.0.0.1:0",
                    "--link-listen=127.0.0.1:0",
                    "--dashboard-listen=127.0.0.1:0",
                ],
                &*arguments,
            ];
            let output = signpost(folder.path(), &serve.concat()).output().unwrap();
            let message = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{message}");
            let expected = format!("{place}{} {problem}", path.display());
            assert!(message.contains(&expected), "{message}");
        }
        fs::remove_file(&path).unwrap();
    }
    // The database is not touched.
    assert_eq!(names(folder.path()), [""; 0]);
}
