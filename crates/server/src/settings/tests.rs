use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use signpost_dns::NameServers;
use signpost_test_servers::country_database::{Located, country_database};

use super::flags::Flags;
use super::*;

/// The settings of a command line, an environment and a file.
fn gather(flags: &[(&'static str, &str)], variables: &[(&str, &str)], file: &str) -> Result<Sources, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signpost.toml");
    fs::write(&path, file).unwrap();
    let flags: Flags = flags.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
    let variables = variables.iter().map(|(name, text)| (OsString::from(name), OsString::from(text)));
    Sources::gather(flags, variables, Some(path)).map_err(|error| error.to_string())
}

fn serve(sources: &Sources) -> Result<ServeSettings, String> {
    ServeSettings::read(sources).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(flags: &[(&'static str, &str)], variables: &[(&str, &str)], file: &str) -> String {
    let read = gather(flags, variables, file).and_then(|sources| {
        CommonSettings::read(&sources).map_err(|error| error.to_string())?;
        serve(&sources)
    });
    read.map(drop).expect_err("the settings are accepted")
}

#[test]
fn d61_defaults() {
    let sources = gather(&[], &[], "").unwrap();
    let CommonSettings { database, store_timeout, pool, plans, log_format, dashboard_url, sign_in } =
        CommonSettings::read(&sources).unwrap();
    assert_eq!(pool, PoolSettings { connections: None, wait: None, statement_timeout: None });
    assert!(matches!(database, Database::File(file) if file.path().ends_with("signpost.db")));
    assert_eq!(store_timeout, Duration::from_secs(5));
    assert_eq!(plans, Plans::builtin());
    assert_eq!(log_format, LogFormat::Text);
    assert_eq!((dashboard_url, sign_in), (None, None));
    let ServeSettings {
        plain,
        plain_https,
        plain_oidc,
        plain_system,
        system,
        system_aliases,
        system_url_is_default,
        max_connections_is_default,
        target_blocklist,
        custom_domain_scheme,
        domains,
        gates,
        https,
        oidc,
        api_hostnames,
        balanced_listeners,
        account_bounds,
        clicks,
    } = serve(&sources).unwrap();
    assert!(clicks.are_recorded);
    assert_eq!(plain.max_connections.get(), 10_000);
    assert_eq!(plain.api_listen, "127.0.0.1:8080".parse().unwrap());
    assert_eq!(plain.dashboard_listen, DashboardListen::At("127.0.0.1:8082".parse().unwrap()));
    assert_eq!(plain.link_listen, "127.0.0.1:8081".parse().unwrap());
    assert_eq!(plain.metrics_listen, None);
    assert!(plain.redis_url.is_none());
    assert!(clicks.are_recorded);
    assert!(target_blocklist.is_none());
    assert_eq!((plain.stale_limit, plain.link_cache), (Duration::from_mins(15), 256 * 1024 * 1024), "D58");
    for (address, is_trusted) in [("127.0.0.1", true), ("::1", true), ("10.0.0.1", false)] {
        assert_eq!(plain.trusted_proxies.contains(address.parse().unwrap()), is_trusted, "D18: {address}");
    }
    assert_eq!((system.origin().as_str(), system_url_is_default), ("http://localhost:8081", true));
    assert!(max_connections_is_default);
    assert!(!gates.know_countries());
    assert!(plain_system.system_root_url.is_none() && plain_system.system_not_found_url.is_none());
    assert!(oidc.is_none() && plain_oidc.oidc_domains.is_none());
    assert!(https.is_none() && api_hostnames.is_empty() && balanced_listeners.is_empty());
    assert_eq!((plain_https.plain_http, plain_https.hsts), (PlainHttpMode::Redirect, None));
    assert_eq!(plain_https.certificates_in_memory.get(), 20_000, "D185");
    assert_eq!(system_aliases, []);
    assert_eq!(custom_domain_scheme, CustomDomainScheme::Https);
    assert_eq!(plain.security_contact, None);
    let DomainSettings { edge, name_servers, allowed_special_use } = domains;
    assert_eq!(edge.hostname, None, "D61: public DNS cannot resolve localhost");
    assert!(edge.addresses.is_empty() && allowed_special_use.is_empty());
    assert_eq!(name_servers, NameServers::System);
    assert_eq!((plain.throttle_per_minute, plain.miss_throttle_per_minute), (30, 300));
    assert_eq!(account_bounds, AccountBounds::default());
    assert_eq!(plain.drain_delay, Duration::ZERO);
}

/// The values of the start-up log by setting.
fn logged(flags: &[(&'static str, &str)]) -> BTreeMap<&'static str, String> {
    let sources = gather(flags, &[], "").unwrap();
    let (common, serve) = (CommonSettings::read(&sources).unwrap(), serve(&sources).unwrap());
    let value = |setting: &About| Some(format!("{:?}", (setting.log)(&common, &serve)?));
    let values = SETTINGS.iter().filter_map(|setting| Some((setting.key, value(setting)?)));
    values.map(|(key, value)| (key, value.trim_matches('"').to_owned())).collect()
}

/// Listeners are logged with their actual ports, and `log-format` shows in every line. The authority is logged only if
/// certificates are obtained.
const NOT_LOGGED: [&str; 5] =
    ["acme-directory", "api-listen", "dashboard-listen", "link-listen", "log-format"];

#[test]
fn d61_the_start_log_has_each_default_in_the_form_of_its_setting() {
    let defaults = logged(&[]);
    for setting in SETTINGS {
        let has_default = setting.default.is_some() && !NOT_LOGGED.contains(&setting.key);
        let has_other_default = setting.help.contains("[default: ");
        assert!(has_other_default || defaults.contains_key(setting.key) == has_default, "{}", setting.key);
    }
    // The log shows the path in the database's URL.
    let values = defaults.iter().filter(|(key, _)| **key != "database-url");
    let given: Vec<_> = values.map(|(key, value)| (*key, value.as_str())).collect();
    assert_eq!(logged(&given), defaults);
}

#[test]
fn r28_the_start_log_has_no_secrets() {
    let values = logged(&[
        ("database-url", "postgres://user:secret@db.example/signpost?password=secret"),
        ("redis-url", "redis://user:secret@cache.example"),
    ]);
    assert!(values["database-url"].contains("db.example") && values["redis-url"].contains("cache.example"));
    assert!(values.values().all(|value| !value.contains("secret")), "{values:?}");
}

#[test]
fn d61_flags_win_over_variables_and_variables_over_the_file() {
    let file = "api-listen = '127.0.0.1:1'\nlink-listen = '127.0.0.1:2'\nthrottle-per-minute = 3";
    let variables = [("SIGNPOST_API_LISTEN", "127.0.0.1:11"), ("SIGNPOST_LINK_LISTEN", "127.0.0.1:12")];
    let sources = gather(&[("api-listen", "127.0.0.1:111")], &variables, file).unwrap();
    let settings = serve(&sources).unwrap();
    assert_eq!(settings.plain.api_listen.port(), 111);
    assert_eq!(settings.plain.link_listen.port(), 12);
    assert_eq!(settings.plain.throttle_per_minute, 3);
}

#[test]
fn d61_lists_are_comma_separated_and_may_be_arrays_in_the_file() {
    for (variables, file) in [
        (&[("SIGNPOST_SYSTEM_ALIASES", "a.example.com, b.example.com")][..], ""),
        (&[], "system-aliases = 'a.example.com,b.example.com'"),
        (&[], "system-aliases = ['a.example.com', 'b.example.com']"),
    ] {
        let settings = serve(&gather(&[], variables, file).unwrap()).unwrap();
        assert_eq!(settings.system_aliases.len(), 2, "{file}");
        assert!(settings.system.answers_to(&Hostname::parse("b.example.com").unwrap()));
    }
}

#[test]
fn d38_domains_point_to_the_named_edge_or_to_the_system_domain() {
    let edge = |flags: &[(&'static str, &str)]| serve(&gather(flags, &[], "").unwrap()).unwrap().domains.edge;
    let named = edge(&[("edge-hostname", "Edge.example.com"), ("edge-addresses", "192.0.2.1,2001:db8::1")]);
    assert_eq!(named.hostname, Hostname::parse("edge.example.com").ok());
    assert_eq!(named.addresses.len(), 2);
    assert_eq!(
        edge(&[("system-url", "https://go.example.com")]).hostname,
        Hostname::parse("go.example.com").ok()
    );
    assert_eq!(
        edge(&[("system-url", "http://192.0.2.7:8081")]).hostname,
        None,
        "a CNAME record cannot point to an address"
    );
    assert_eq!(edge(&[("system-url", "http://[::1]:8081")]).hostname, None);
}

#[test]
fn d37_the_edge_hostname_cannot_be_connected() {
    let settings = serve(&gather(&[("edge-hostname", "edge.example.com")], &[], "").unwrap()).unwrap();
    let rules = settings.domains.hostname_rules(&settings.system, None, &[]);
    assert!(rules.check("a.edge.example.com").is_err() && rules.check("a.example.com").is_ok());
}

/// A secret that was not injected must not become the default, which may be another, empty database.
#[test]
fn d61_an_empty_value_is_refused_unless_it_is_a_list() {
    for setting in SETTINGS {
        let variable = setting.variable();
        let read = [
            gather(&[], &[(&variable, "")], "").map(drop),
            gather(&[(setting.key, "")], &[], "").map(drop),
            gather(&[], &[], &format!("{} = ''", setting.key)).map(drop),
        ];
        if setting.is_list() {
            assert_eq!(read, [Ok(()), Ok(()), Ok(())], "{}", setting.key);
        } else {
            let names = [variable.clone(), format!("--{}", setting.key), format!("`{}` in ", setting.key)];
            for (read, name) in read.into_iter().zip(names) {
                let message = read.expect_err(setting.key);
                assert!(message.starts_with(&name) && message.contains("must not be empty"), "{message}");
            }
        }
    }
    let sources = gather(&[], &[("SIGNPOST_TRUSTED_PROXIES", "")], "").unwrap();
    let proxies = serve(&sources).unwrap().plain.trusted_proxies;
    assert!(!proxies.contains("127.0.0.1".parse().unwrap()), "an empty list is not the default");
    let message = gather(&[], &[("SIGNPOST_CONFIG", "")], "").unwrap_err();
    assert!(message.starts_with("SIGNPOST_CONFIG: must not be empty"), "{message}");
}

#[test]
fn d61_control_characters_and_outer_white_space_are_refused_by_name() {
    for setting in SETTINGS {
        let variable = setting.variable();
        for (text, problem) in [
            ("sqlite://a.db\r", "the control character \\r"),
            ("a\u{1b}[2J", "the control character \\u{1b}"),
            ("\u{85}", "the control character \\u{85}"),
            (" sqlite://a.db", "white space"),
            ("sqlite://a.db ", "white space"),
            ("sqlite://a.db\u{a0}", "white space"),
        ] {
            let message = gather(&[], &[(&variable, text)], "").unwrap_err();
            assert!(message.starts_with(&variable) && message.ends_with(problem), "{message}");
        }
        let message = gather(&[], &[], &format!(r#"{} = "a\r""#, setting.key)).unwrap_err();
        assert!(message.starts_with(&format!("`{}` in ", setting.key)), "{message}");
    }
}

#[test]
fn d61_messages_escape_control_characters() {
    let message = gather(&[], &[("SIGNPOST_\u{1b}[31m", "x")], "").unwrap_err();
    assert!(message.starts_with("SIGNPOST_\\u{1b}[31m: "), "{message}");
    let message = gather(&[], &[], r#""a\nb" = 1"#).unwrap_err();
    assert!(message.starts_with("`a\\nb` in "), "{message}");
}

#[test]
fn r28_a_syntax_error_in_the_file_does_not_repeat_its_line() {
    let message =
        gather(&[], &[], "log-format = 'text'\ndatabase-url = 'postgres://u:secret@db/s").unwrap_err();
    assert!(message.contains("signpost.toml: line 2, column "), "{message}");
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn a_given_system_url_that_equals_the_default_counts_as_given() {
    let settings = serve(&gather(&[("system-url", "http://localhost:8081")], &[], "").unwrap()).unwrap();
    assert!(!settings.system_url_is_default);
}

#[test]
fn d61_an_unknown_setting_is_refused_by_name() {
    let message = refused(&[], &[("SIGNPOST_API_LISTN", "x")], "");
    assert!(message.starts_with("SIGNPOST_API_LISTN: unknown setting"), "{message}");
    let message = refused(&[], &[], "colour = 'red'");
    assert!(message.starts_with("`colour` in ") && message.contains("unknown setting"), "{message}");
    let message = refused(&[], &[], "api_listen = '127.0.0.1:1'");
    assert!(
        message.starts_with("`api_listen` in ") && message.ends_with("write it as `api-listen`"),
        "{message}"
    );
    let message = refused(&[], &[], "[listen]\napi = 1");
    assert!(message.starts_with("`listen` in "), "{message}");
    assert!(gather(&[], &[("SIGNPOSTING", "x"), ("PATH", "y")], "").is_ok(), "not variables of the program");
}

#[test]
fn d61_an_invalid_setting_is_named_as_it_was_given() {
    for setting in catalog::SETTINGS {
        // This text is invalid for every setting.
        let wrong = "\u{1} ,/?";
        let key = setting.key;
        let message = refused(&[(key, wrong)], &[], "");
        assert!(message.starts_with(&format!("--{key}: ")), "{message}");
        let variable = setting.variable();
        let message = refused(&[], &[(&variable, wrong)], "");
        assert!(message.starts_with(&format!("{variable}: ")), "{message}");
        let message = refused(&[], &[], &format!("{key} = \"\\u0001 ,/?\""));
        assert!(message.starts_with(&format!("`{key}` in ")), "{message}");
        let message = refused(&[], &[], &format!("{key} = true"));
        assert!(message.starts_with(&format!("`{key}` in ")), "{message}");
    }
}

#[test]
fn d24_a_blocklist_that_is_missing_or_broken_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hosts.txt");
    let given = path.to_str().unwrap();
    let message = refused(&[("target-blocklist", given)], &[], "");
    assert!(message.starts_with("--target-blocklist: cannot read ") && message.contains(given), "{message}");
    fs::write(&path, "a b").unwrap();
    let message = refused(&[], &[("SIGNPOST_TARGET_BLOCKLIST", given)], "");
    assert!(message.starts_with("SIGNPOST_TARGET_BLOCKLIST: ") && message.contains("line 1"), "{message}");
}

#[test]
fn d61_a_country_database_that_is_missing_or_broken_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("countries.mmdb");
    let given = path.to_str().unwrap();
    let message = refused(&[("geoip-database", given)], &[], "");
    assert!(message.starts_with("--geoip-database: cannot read ") && message.contains(given), "{message}");
    fs::write(&path, "not one").unwrap();
    let message = refused(&[], &[("SIGNPOST_GEOIP_DATABASE", given)], "");
    assert!(
        message.starts_with("SIGNPOST_GEOIP_DATABASE: ") && message.contains("is not a database"),
        "{message}"
    );
    fs::write(&path, country_database(&[("192.0.2.0/24", Located::in_country("DE"))])).unwrap();
    let settings = serve(&gather(&[("geoip-database", given)], &[], "").unwrap()).unwrap();
    let database = settings.gates.country_database.expect("the database is configured");
    assert!(database.lookup().country([192, 0, 2, 1].into()).is_some());
}

#[test]
fn d61_the_country_header_is_the_name_of_a_header() {
    let settings = serve(&gather(&[("country-header", "CF-IPCountry")], &[], "").unwrap()).unwrap();
    assert!(settings.gates.know_countries());
    assert_eq!(settings.gates.country_header.unwrap(), "cf-ipcountry");
    let message = refused(&[("country-header", "two words")], &[], "");
    assert!(message.starts_with("--country-header: must be the name of a header"), "{message}");
    for other in ["Host", "connection", "X-Forwarded-For", "User-Agent"] {
        let message = refused(&[("country-header", other)], &[], "");
        assert!(message.starts_with("--country-header: must be a header that names a country"), "{message}");
    }
}

#[test]
fn d77_the_header_needs_the_proxies_and_the_proxies_the_header() {
    let both = [("sign-in-header", "Remote-Email"), ("sign-in-proxies", "10.0.0.5,fd00::/8")];
    let settings = CommonSettings::read(&gather(&both, &[], "").unwrap()).unwrap().sign_in.unwrap();
    assert_eq!(settings.header, "Remote-Email");
    assert!(settings.proxies.contains("10.0.0.5".parse().unwrap()));
    let message = refused(&both[..1], &[], "");
    assert!(message.starts_with("--sign-in-header: needs `sign-in-proxies` too"), "{message}");
    assert_eq!(refused(&both[1..], &[], ""), "--sign-in-proxies: needs `sign-in-header` too");
    let message = refused(&both[..1], &[("SIGNPOST_SIGN_IN_PROXIES", "::/0")], "");
    assert_eq!(message, "SIGNPOST_SIGN_IN_PROXIES: must not contain all addresses, as ::/0 does");
}

#[test]
fn d77_the_peers_of_the_dashboard_are_those_of_its_connections() {
    let with = |listeners| {
        let header = [("sign-in-header", "Remote-Email"), ("sign-in-proxies", "10.0.0.5")];
        gather(&header, &[("SIGNPOST_PROXY_PROTOCOL", listeners)], "").and_then(|sources| serve(&sources))
    };
    assert!(with("links,api").is_ok());
    for listener in ["dashboard", "tls"] {
        let message = with(listener).unwrap_err();
        assert!(
            message.starts_with(&format!("SIGNPOST_PROXY_PROTOCOL: cannot have {listener} ")),
            "{message}"
        );
    }
}

#[test]
fn a_named_settings_file_must_exist_and_be_toml() {
    let named =
        |path: PathBuf| Sources::gather(Flags::new(), [], Some(path)).map_err(|error| error.to_string());
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.toml");
    let message = named(missing.clone()).unwrap_err();
    assert_eq!(message, format!("{}: this settings file does not exist", missing.display()));
    let message = gather(&[], &[], "api-listen = ").unwrap_err();
    assert!(message.contains("signpost.toml: ") && message.contains("line 1"), "{message}");
}

#[test]
fn the_flag_for_the_settings_file_wins_over_its_variable() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("one.toml"), folder.path().join("other.toml"));
    fs::write(&one, "throttle-per-minute = 1").unwrap();
    fs::write(&other, "throttle-per-minute = 2").unwrap();
    let variables = || [(OsString::from("SIGNPOST_CONFIG"), one.clone().into_os_string())];
    let throttle = |file| {
        let sources = Sources::gather(Flags::new(), variables(), file).unwrap();
        ServeSettings::read(&sources).unwrap().plain.throttle_per_minute
    };
    assert_eq!(throttle(None), 1);
    assert_eq!(throttle(Some(other)), 2);
}
