//! Backups of every night, as `docs/operations.md` and the packaging run them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::harness::{Program, Store, signpost};

const GUIDE: &str = include_str!("../../../docs/operations.md");
const UNIT: &str = include_str!("../../../packaging/signpost-backup.service");

/// The folder of the guide.
const FOLDER: &str = "/var/backups/signpost";

/// How many backups the guide keeps.
const KEPT: usize = 14;

/// The words behind the program's name in the line of cron and in the unit, with the folder of a test.
fn nightly_commands(folder: &str) -> [Vec<String>; 2] {
    let cron = GUIDE.split("```cron\n").nth(1).unwrap().split("```").next().unwrap();
    let cron = cron.lines().find(|line| !line.starts_with('#')).unwrap();
    let unit = UNIT.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
    [cron, unit].map(|line| {
        let (_, words) = line.split_once("signpost backup ").unwrap();
        let words = format!("backup {words}");
        // The program of a test has its settings in variables.
        let words = words.replace("--config /etc/signpost/signpost.toml ", "").replace(FOLDER, folder);
        words.split(' ').map(str::to_owned).collect()
    })
}

/// The database of the settings is a path relative to the folder in which `signpost.service` runs.
#[test]
fn d60_nightly_backups_run_in_the_folder_of_the_service() {
    let service = include_str!("../../../packaging/signpost.service");
    let line = service.lines().find(|line| line.starts_with("WorkingDirectory=")).unwrap();
    assert!(UNIT.lines().any(|of_unit| of_unit == line), "{UNIT}");
    let folder = line.split_once('=').unwrap().1;
    assert!(GUIDE.contains(&format!("root cd {folder} && /usr/local/bin/signpost backup")));
}

fn names(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn d60_nightly_backups_of_the_guide_keep_the_newest() {
    let program = Program::builder().on(Store::Embedded).start();
    program.first_account().new_redirect();
    let folder = tempfile::tempdir().unwrap();
    let old = |day: usize| format!("signpost-2001-01-{day:02}T03-15-00Z");
    for day in 1..=20 {
        fs::write(folder.path().join(format!("{}.db", old(day))), "old").unwrap();
        fs::write(folder.path().join(format!("{}-clicks.db", old(day))), "old").unwrap();
    }
    for other in ["signpost-monday.db", "other-2001-01-01T03-15-00Z.db", "notes.txt"] {
        fs::write(folder.path().join(other), "not ours").unwrap();
    }
    let commands = nightly_commands(folder.path().to_str().unwrap());
    for (night, words) in commands.iter().enumerate() {
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["--json"]).collect();
        let printed = program.command(&words);
        let made = Path::new(printed["file"].as_str().unwrap());
        assert_eq!(made.parent().unwrap(), folder.path());
        assert_eq!(fs::metadata(made).unwrap().len(), printed["bytes"].as_u64().unwrap());
        assert_eq!(printed["deleted"].as_array().unwrap().len(), if night == 0 { 7 } else { 1 });
        // The next name is that of another second.
        std::thread::sleep(std::time::Duration::from_millis(1_100));
    }
    let left = names(folder.path());
    let dated =
        |end: &str| left.iter().filter(|name| name.starts_with("signpost-2") && name.ends_with(end)).count();
    assert_eq!((dated("Z.db"), dated("Z-clicks.db")), (KEPT, KEPT), "{left:?}");
    assert!(
        left.contains(&format!("{}.db", old(20))) && !left.contains(&format!("{}.db", old(8))),
        "{left:?}"
    );
    for other in ["signpost-monday.db", "other-2001-01-01T03-15-00Z.db", "notes.txt"] {
        assert_eq!(fs::read_to_string(folder.path().join(other)).unwrap(), "not ours");
    }
}

#[test]
fn d60_a_backup_that_fails_deletes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let backups = folder.path().join("backups");
    fs::create_dir(&backups).unwrap();
    let old = ["signpost-2001-01-01T03-15-00Z.db", "signpost-2001-01-02T03-15-00Z.db"];
    for name in old {
        fs::write(backups.join(name), "old").unwrap();
    }
    let run = |words: &[&str]| {
        let output = signpost(folder.path(), words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, message) = run(&["backup", "--keep", "1", "backups"]);
    assert!(code == Some(1) && message.contains("there is no database"), "{message}");
    assert_eq!(names(&backups), old.map(str::to_owned).into());
    assert_eq!(run(&["migrate"]).0, Some(0));
    let clicks = folder.path().join("signpost-clicks.db");
    let whole = fs::read(&clicks).unwrap();
    fs::write(&clicks, "no database").unwrap();
    let (code, message) = run(&["backup", "--keep", "1", "backups"]);
    assert!(code == Some(1) && message.contains("signpost-clicks.db"), "{message}");
    assert_eq!(names(&backups), old.map(str::to_owned).into(), "no half of a backup stands for a whole one");
    fs::write(&clicks, whole).unwrap();
    let (code, message) = run(&["backup", "--keep", "1", "missing"]);
    assert!(
        code == Some(2) && message.contains("needs a folder") && message.contains("missing"),
        "{message}"
    );
    assert_eq!(run(&["backup", "--keep", "0", "backups"]).0, Some(2));
    assert_eq!(run(&["backup", "backups"]).0, Some(0), "without `--keep` nothing is deleted");
    assert_eq!(names(&backups).len(), 4, "the old ones, the copy and its clicks");
}
