use clap::CommandFactory;
use clap::error::ErrorKind;

use signpost_domain::ApiKeySecret;

use super::*;

fn parse(line: &str) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(line.split(' '))
}

#[test]
fn the_command_line_is_well_formed() {
    Cli::command().debug_assert();
}

#[test]
fn d60_settings_of_serve_may_come_before_or_after_its_name() {
    let bare = parse("signpost --api-listen 127.0.0.1:1 --json").unwrap();
    assert!(bare.command.is_none() && bare.json());
    assert_eq!(bare.serve.0.get("api-listen").unwrap(), "127.0.0.1:1");
    let named = parse("signpost serve --api-listen 127.0.0.1:1 --database-url sqlite://a.db").unwrap();
    let Some(Command::Serve(ServeFlags(flags))) = &named.command else { panic!("{named:?}") };
    assert_eq!(flags.get("api-listen").unwrap(), "127.0.0.1:1");
    assert_eq!(named.global.common.0.get("database-url").unwrap(), "sqlite://a.db");
}

#[test]
fn d60_common_options_may_come_before_or_after_every_command() {
    let id = "0".repeat(32);
    for command in [
        "serve".to_owned(),
        "migrate".to_owned(),
        "backup copy.db".to_owned(),
        "account create --email a@example.com".to_owned(),
        "account create --email a@example.com --name A --plan pro".to_owned(),
        "account list".to_owned(),
        format!("account set-plan acc_{id} pro"),
        format!("account suspend acc_{id}"),
        format!("account resume acc_{id}"),
        format!("account delete acc_{id} --yes"),
        format!("key issue --account acc_{id}"),
        format!("key issue --account acc_{id} --name site"),
        format!("key list --account acc_{id}"),
        format!("key revoke key_{id}"),
        format!("key revoke {}", ApiKeySecret::from_random([1; 32]).expose()),
        "account suspend ada@example.com".to_owned(),
        "account delete ada@example.com --yes".to_owned(),
        "key issue --account ada@example.com".to_owned(),
        format!("export --account acc_{id}"),
        "export --account ada@example.com --strict".to_owned(),
        format!("export --account acc_{id} --format jsonl --output -"),
        format!("import --account acc_{id} links.csv"),
        format!("import --account acc_{id} --dry-run --report report.csv --format csv -"),
    ] {
        let common = "--json --config c.toml --database-url sqlite://a.db --store-timeout 1s";
        for line in [format!("signpost {command} {common}"), format!("signpost {common} {command}")] {
            let cli = parse(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert!(cli.json(), "{line}");
            assert_eq!(cli.global.config, Some(PathBuf::from("c.toml")), "{line}");
            assert_eq!(cli.global.common.0.get("database-url").unwrap(), "sqlite://a.db", "{line}");
            assert_eq!(cli.global.common.0.get("store-timeout").unwrap(), "1s", "{line}");
        }
    }
}

#[test]
fn a_malformed_argument_is_named_and_exits_with_2() {
    for (line, named) in [
        (
            "signpost account suspend acc_1",
            "'<ACCOUNT>': is neither an account id (acc_…) nor an e-mail address",
        ),
        ("signpost key issue --account key_00000000000000000000000000000000", "--account <ACCOUNT>"),
        ("signpost key revoke sp_live_x", "<KEY> is not a valid API key: a character is missing or wrong"),
        ("signpost key revoke key_1", "<KEY> is neither an API key id (key_…) nor an API key (sp_live_…)"),
        ("signpost account create --email ada", "--email <EMAIL>"),
        ("signpost account create --email a@b.c --plan Agency!", "--plan <PLAN>"),
        ("signpost serve --api-listn 127.0.0.1:1", "--api-listn"),
        ("signpost account list --api-listen 127.0.0.1:1", "--api-listen"),
        ("signpost export --account acc_1", "--account <ACCOUNT>"),
        ("signpost export", "--account <ACCOUNT>"),
        ("signpost import --account acc_00000000000000000000000000000000", "<FILE>"),
        (
            "signpost import --account acc_00000000000000000000000000000000 --api-listen 127.0.0.1:1 a",
            "--api-listen",
        ),
        ("signpost acount", "acount"),
    ] {
        let error = parse(line).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{line}");
        assert!(error.to_string().contains(named), "{line}: {error}");
    }
}

#[tokio::test]
async fn other_commands_refuse_settings_of_serve_before_their_name() {
    let error = Box::pin(
        parse("signpost --api-listen 127.0.0.1:1 migrate").unwrap().run([], Ok(PassedSockets::default())),
    )
    .await
    .unwrap_err();
    assert!(is_usage_error(&error));
    assert!(error.to_string().starts_with("--api-listen is a setting of `serve`"), "{error}");
}

/// D61: an import validates links, so it takes the settings by which `serve` validates them.
#[test]
fn d61_an_import_takes_the_settings_of_links() {
    let import = "import --account acc_00000000000000000000000000000000";
    let named = parse(&format!("signpost {import} --system-url https://a.example f.csv")).unwrap();
    let Some(Command::Import(arguments)) = &named.command else { panic!("{named:?}") };
    assert_eq!(arguments.links.0.get("system-url").unwrap(), "https://a.example");
    let early = parse(&format!("signpost --target-blocklist hosts.txt {import} f.csv")).unwrap();
    let command = early.command.as_ref().unwrap();
    assert!(early.serve.0.keys().all(|key| command.takes(key)));
    assert!(!command.takes("api-listen"));
}

/// The printed link must open at the dashboard of this machine.
#[test]
fn d81_links_of_commands_lead_to_the_configured_dashboard() {
    let (listen, url) = ("SIGNPOST_DASHBOARD_LISTEN", "SIGNPOST_DASHBOARD_URL");
    for (given, expected) in [
        (&[][..], "http://localhost:8082"),
        (&[(listen, "127.0.0.1:9000")], "http://localhost:9000"),
        (&[(listen, "[::]:9000")], "http://localhost:9000"),
        // The port of a running program, and whether there is one, is unknown.
        (&[(listen, "127.0.0.1:0")], "http://localhost:8082"),
        (&[(listen, "off")], "http://localhost:8082"),
        (&[(listen, "127.0.0.1:9000"), (url, "https://dash.example.com")], "https://dash.example.com"),
    ] {
        let variables = given.iter().map(|(name, text)| (OsString::from(name), OsString::from(text)));
        let (sources, common) = read(Flags::new(), variables, None).unwrap();
        let origin = DashboardLinkSettings::read(&sources).unwrap().origin(&common);
        assert_eq!(origin.as_str(), expected, "{given:?}");
    }
}

#[test]
fn d81_commands_that_make_links_take_the_address_of_the_dashboard() {
    for command in ["user reset ada@example.com", "account create --email ada@example.com --invite"] {
        let cli = parse(&format!("signpost --dashboard-listen 127.0.0.1:9000 {command}")).unwrap();
        let command = cli.command.as_ref().unwrap();
        assert!(cli.serve.0.keys().all(|key| command.takes(key)), "{command:?}");
        assert!(!command.takes("api-listen"), "{command:?}");
    }
}

#[test]
fn help_shows_every_setting_with_its_variable_and_default() {
    let error = parse("signpost --help").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DisplayHelp);
    // Lines are wrapped at the width of the terminal.
    let help = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    for setting in crate::settings::SETTINGS {
        let variable = format!("[env: {}]", setting.variable());
        assert!(help.contains(&format!("--{} <{}>", setting.key, setting.value_name)), "{}", setting.key);
        assert!(help.contains(&variable), "{variable}");
        if let Some(default) = setting.default {
            assert!(help.contains(&format!("[default: {default}] {variable}")), "{default}");
        }
    }
    for command in ["serve", "migrate", "backup", "account", "key"] {
        assert!(help.contains(command));
    }
}

#[tokio::test]
async fn d60_an_account_is_not_deleted_without_yes() {
    let line = format!("signpost account delete acc_{}", "0".repeat(32));
    let error = Box::pin(parse(&line).unwrap().run([], Ok(PassedSockets::default()))).await.unwrap_err();
    assert!(is_usage_error(&error) && error.to_string().contains("--yes"), "{error}");
}

/// A truncated or altered key still contains most of the secret.
#[test]
fn d13_no_malformed_key_is_repeated() {
    let key = ApiKeySecret::from_random([4; 32]);
    let key = key.expose();
    for argument in [key[..39].to_owned(), key[1..].to_owned(), format!("{key}x"), format!("\"{key}\"")] {
        let error = Cli::try_parse_from(["signpost", "key", "revoke", &argument]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let message = format!("{error} {error:?}");
        assert!(!message.contains(&key[10..20]), "{message}");
        assert!(message.contains("Usage: signpost key revoke"), "{message}");
    }
    let pasted = Cli::try_parse_from(["signpost", "key", "revoke", &format!(" {key}\n")]);
    assert!(pasted.is_ok(), "white space from a clipboard is ignored");
    assert!(!format!("{pasted:?}").contains(&key[10..20]));
}

/// The long list of options that every command has would hide the command's own.
#[test]
fn the_help_of_a_command_shows_its_own_options_first() {
    for (command, own) in [
        ("key revoke", vec!["<KEY>"]),
        ("key issue", vec!["--account", "--name"]),
        ("account create", vec!["--email", "--name", "--plan"]),
        ("account delete", vec!["<ACCOUNT>", "--yes"]),
        ("export", vec!["--account", "--format", "--output", "--strict"]),
        ("import", vec!["<FILE>", "--account", "--format", "--dry-run", "--report"]),
        ("backup", vec!["<FILE>", "--keep"]),
    ] {
        let help = parse(&format!("signpost {command} --help")).unwrap_err().to_string();
        let (_, help) = help.split_once("\n\n").unwrap();
        let (first, rest) = help.split_once("\nEvery command:\n").unwrap_or_else(|| panic!("{help}"));
        for option in own {
            assert!(first.contains(&format!(" {option}")), "{command}: {option}: {help}");
        }
        for setting in ["--json", "--config", "--database-url", "--plans", "--log-format"] {
            assert!(!first.contains(&format!(" {setting} ")), "{command}: {setting}: {help}");
            assert!(
                rest.contains(&format!(" {setting} ")) || rest.contains(&format!(" {setting}\n")),
                "{setting}"
            );
        }
    }
}
