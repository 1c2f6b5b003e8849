//! Starting on the embedded store: the first account, the database, and unknown plans (D15, D60 to D62).

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{ON_FREE_PORTS, Program, signpost};

#[test]
fn d62_only_the_first_start_creates_an_account_on_agency_with_a_key() {
    let mut program = Program::builder().builtin_plans().start();
    let key = program.announced_key.clone().unwrap();
    let account = program.first_account().get("/v1/account").expect_status(200).body;
    assert_eq!(account["plan"], "agency");
    program.kill();
    program.start_again();
    assert_eq!(program.announced_key, None);
    program.with_key(&key).get("/v1/account").expect_status(200);
    assert_eq!(program.command(&["account", "list", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn d61_a_missing_file_of_clicks_is_made_with_a_warning() {
    const WARNING: &str = "the file of clicks was missing beside its database";
    let mut program = Program::builder().start();
    assert!(!program.stop_and_read_log().contains(WARNING));
    for companion in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(program.folder().join(format!("signpost-clicks.db{companion}")));
    }
    program.start_again();
    let log = program.stop_and_read_log();
    assert_eq!(log.matches(WARNING).count(), 1, "{log}");
}

#[test]
fn d62_a_first_start_with_an_existing_account_creates_none() {
    let folder = tempfile::tempdir().unwrap();
    assert!(signpost(folder.path(), &["migrate"]).output().unwrap().status.success());
    let made = signpost(folder.path(), &["account", "create", "--email", "a@example.com"]).output().unwrap();
    assert!(made.status.success());
    let mut child =
        signpost(folder.path(), &ON_FREE_PORTS).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let announced: Vec<String> = lines.by_ref().take(2).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    // The account has no user yet (D79).
    assert!(announced[0].contains("no_user") && announced[1].contains("listening"), "{announced:?}");
}

#[test]
fn d61_only_serve_and_migrate_create_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("signpost.db");
    let account = format!("acc_{}", "0".repeat(32));
    let key = format!("key_{}", "0".repeat(32));
    fs::write(folder.path().join("links.csv"), "name,target_url\na,https://example.com/\n").unwrap();
    for arguments in [
        &["account", "list"][..],
        &["account", "create", "--email", "a@example.com"],
        &["account", "suspend", &account],
        &["key", "issue", "--account", &account],
        &["key", "revoke", &key],
        &["export", "--account", &account, "--output", "out.csv"],
        &["import", "--account", &account, "links.csv"],
        &["backup", "copy.db"],
    ] {
        let refused = signpost(folder.path(), arguments).output().unwrap();
        let message = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{arguments:?}: {message}");
        let expected = format!(
            "error: there is no database at {}: name the right file with `database-url`",
            path.display()
        );
        assert!(message.starts_with(&expected), "{arguments:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["links.csv"]);
    assert!(signpost(folder.path(), &["migrate"]).output().unwrap().status.success());
    assert!(signpost(folder.path(), &["account", "list"]).output().unwrap().status.success());
}

/// A shell runs the curl line exactly as printed.
#[test]
fn d62_the_printed_curl_line_works_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = signpost(
        folder.path(),
        &["--api-listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0", "--dashboard-listen", "127.0.0.1:0"],
    )
    .stdout(Stdio::piped())
    .stderr(Stdio::null())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut command = String::new();
    for line in lines.by_ref() {
        let line = line.unwrap();
        let begins = line.trim_start().starts_with("curl ");
        if begins || command.ends_with('\n') {
            command.push_str(line.trim_start());
            if !command.ends_with('\\') {
                break;
            }
            command.push('\n');
        }
    }
    assert!(command.starts_with("curl "), "no curl line was printed");
    let output =
        Command::new("sh").args(["-c", &format!("{command} --silent --show-error")]).output().unwrap();
    let documentation = lines.map(Result::unwrap).find(|line| line.ends_with("/docs")).unwrap();
    let page = documentation.split_whitespace().last().unwrap();
    assert_eq!(ureq::get(page).call().unwrap().status(), 200, "{page}");
    child.kill().unwrap();
    child.wait().unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    let body: serde_json::Value = serde_json::from_str(answer.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {answer} {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(body["object"], "redirect", "{command}: {answer}");
}

#[test]
fn d60_migrate_works_on_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| signpost(folder.path(), arguments).output().unwrap();
    assert!(run(&["migrate"]).status.success());
    assert!(folder.path().join("signpost.db").exists());
    assert!(run(&["migrate"]).status.success(), "a second run changes nothing");
}

#[test]
fn d15_the_start_warns_of_plans_of_accounts_that_no_setting_defines() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plans.toml"), "[plans.team]\nextends = \"agency\"").unwrap();
    let with = |plans: &[&str], words: &[&str]| {
        assert!(signpost(folder.path(), &[words, plans].concat()).output().unwrap().status.success());
    };
    with(&[], &["migrate"]);
    for email in ["a@example.com", "b@example.com"] {
        with(&["--plans", "plans.toml"], &["account", "create", "--plan", "team", "--email", email]);
    }
    let mut program = Program::start_in_with(folder, &[], &[]);
    let log = program.stop_and_read_log();
    let warning = log.lines().find(|line| line.contains("a plan that this node does not know")).unwrap();
    assert!(warning.contains("plan=team") && warning.contains("accounts=2"), "{warning}");
}

/// The message of the first start and the log as a terminal shows them: both streams in one.
#[test]
fn d62_the_message_of_the_first_start_is_not_buried() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().join("terminal");
    let terminal = fs::File::create(&shown).unwrap();
    let mut child = signpost(
        folder.path(),
        &["--api-listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0", "--dashboard-listen", "127.0.0.1:0"],
    )
    .stdout(terminal.try_clone().unwrap())
    .stderr(terminal)
    .spawn()
    .unwrap();
    let began = Instant::now();
    let text = loop {
        let text = fs::read_to_string(&shown).unwrap();
        if text.contains(" listening ") {
            break text;
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{text}");
        std::thread::sleep(Duration::from_millis(20));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let message = text.find("Created your first account").unwrap_or_else(|| panic!("{text}"));
    let (before, behind) = text.split_at(message);
    let lines: Vec<_> = before.lines().collect();
    let [start, settings, key, database] = lines[..] else { panic!("{before}") };
    assert!(start.contains("starting") && settings.contains(" settings "), "{before}");
    assert!(key.contains("made the secrets key"), "{before}");
    assert!(database.contains("the database was created") && !before.contains("WARN"), "{before}");
    assert!(behind.contains("custom domains are off"), "what concerns a later step comes later: {text}");
    assert!(behind.contains(" unlimited\n") && !text.contains("took over background work"), "{text}");
}

/// A limit that leaves enough connections is no news, unless the operator asked for more.
#[test]
fn r25_a_limit_of_open_files_is_mentioned_only_if_it_matters() {
    let line = "the limit of open files allows only";
    for (limit, asked, is_told) in [(4_096, None, false), (4_096, Some("20000"), true), (512, None, true)] {
        let program = Program::builder().open_files(limit);
        let program =
            asked.into_iter().fold(program, |program, number| program.setting("max-connections", number));
        let log = program.start().stop_and_read_log();
        assert_eq!(log.contains(line), is_told, "{limit} {asked:?}: {log}");
    }
}

/// Standard output is a file here. What makes it the journal's is the variable with its device and inode. A second start must not
/// take the key out of the file, because somebody may still have to read it.
#[test]
fn d79_under_a_service_manager_secrets_go_to_a_private_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signpost-first-start.txt");
    let mut read = Vec::new();
    for start in 1..=2 {
        let kept = journal_of_a_start(folder.path(), &format!("journal{start}"));
        assert!(!kept.contains("sp_live_") && !kept.contains("/start/"), "{kept}");
        assert!(kept.contains("signpost-first-start.txt"), "{kept}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        read.push(fs::read_to_string(&path).unwrap());
    }
    let words = |text: &str, part: &str| -> Vec<String> {
        text.split_whitespace().filter(|word| word.contains(part)).map(str::to_owned).collect()
    };
    let [first, second] = read.try_into().unwrap();
    assert!(!words(&first, "sp_live_").is_empty(), "{first}");
    assert_eq!(words(&first, "sp_live_"), words(&second, "sp_live_"));
    let [urls, later] = [&first, &second].map(|text| words(text, "/start/"));
    assert!(urls.len() == 1 && later.len() == 1 && urls != later, "{urls:?} {later:?}");
}

/// What a start writes into this file, its journal, until it listens.
fn journal_of_a_start(folder: &std::path::Path, name: &str) -> String {
    use std::os::unix::fs::MetadataExt as _;

    let journal = folder.join(name);
    let open = || fs::File::options().create(true).append(true).open(&journal).unwrap();
    let stat = open().metadata().unwrap();
    let words =
        ["--api-listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0", "--dashboard-listen", "127.0.0.1:0"];
    let mut child = signpost(folder, &words)
        // Otherwise the start URL has the port, which differs between the starts.
        .env("SIGNPOST_DASHBOARD_URL", "http://localhost:8082")
        .env("JOURNAL_STREAM", format!("{}:{}", stat.dev(), stat.ino()))
        .stdout(open())
        .stderr(open())
        .spawn()
        .unwrap();
    let since = Instant::now();
    let kept = loop {
        let kept = fs::read_to_string(&journal).unwrap();
        if kept.contains("listening") {
            break kept;
        }
        assert!(since.elapsed() < Duration::from_mins(1), "{kept}");
        std::thread::sleep(Duration::from_millis(20));
    };
    child.kill().unwrap();
    child.wait().unwrap();
    kept
}
