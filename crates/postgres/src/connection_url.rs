//! Parsing `postgres://` URLs, and showing them without secrets.

use std::path::PathBuf;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::Host;
use url::form_urlencoded;

use crate::open_error::OpenError;

/// The content of a URL. TLS settings are kept apart, because the driver only knows whether TLS is on.
pub(crate) struct ConnectionUrl {
    pub(crate) config: Config,
    pub(crate) tls_mode: Option<String>,
    /// The file with the trusted root certificates.
    pub(crate) roots: Option<PathBuf>,
    /// The names of its parameters.
    names: Vec<String>,
}

impl ConnectionUrl {
    /// Parses a URL as the driver does, which is close to libpq. One difference: the driver would take an `@` in the
    /// parameters for the end of a password.
    pub(crate) fn parse(url: &str) -> Result<Self, OpenError> {
        let Some(("postgres" | "postgresql", rest)) = url.split_once("://") else {
            return Err(not_a_url("it must begin with `postgres://`"));
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = place.find('/').map_or((place, ""), |slash| place.split_at(slash));
        if path.contains('@') || authority.matches('@').count() > 1 {
            return Err(not_a_url("a `/`, `?` or `@` in a password is written `%2F`, `%3F` or `%40`"));
        }
        let mut text = format!("postgres://{authority}{path}");
        let (mut tls_mode, mut roots, mut names) = (None, None, Vec::new());
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = decoded(parameter);
            match name.as_str() {
                "sslmode" => tls_mode = Some(value),
                "sslrootcert" => roots = Some(PathBuf::from(value)),
                "sslcert" | "sslkey" | "sslpassword" => {
                    return Err(not_a_url("client certificates (`sslcert`, `sslkey`) are not supported"));
                }
                _ => {
                    text.push(if names.is_empty() { '?' } else { '&' });
                    text.push_str(&parameter.replace('@', "%40"));
                    names.push(name);
                }
            }
        }
        let config = Config::from_str(&text).map_err(|error| not_a_url(reason(&error, query)))?;
        Ok(Self { config, tls_mode, roots, names })
    }

    /// Whether the URL has a parameter.
    pub(crate) fn says(&self, name: &str) -> bool {
        self.names.iter().any(|given| given == name)
    }
}

pub(crate) fn not_a_url(reason: impl Into<String>) -> OpenError {
    OpenError::NotAUrl { reason: reason.into() }
}

/// The decoded name and value of a parameter. Unlike in HTML forms, `+` is a literal plus sign.
fn decoded(parameter: &str) -> (String, String) {
    let parameter = parameter.replace('+', "%2B");
    let pair = form_urlencoded::parse(parameter.as_bytes()).next();
    pair.map(|(name, value)| (name.into_owned(), value.into_owned())).unwrap_or_default()
}

/// Why the driver rejects a URL with this query. What it takes for the name or value of a parameter may be a part of a
/// password with a `&`, `?` or `@`, so a name is shown only where no password can be.
fn reason(error: &tokio_postgres::Error, query: &str) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    if cause.starts_with("invalid value for option") {
        return cause;
    }
    let has_password =
        query.contains('@') || query.split('&').any(|parameter| decoded(parameter).0 == "password");
    let unknown = cause.strip_prefix("unknown option `").and_then(|rest| rest.strip_suffix('`'));
    match unknown.filter(|name| !has_password && is_like_a_parameter(name)) {
        Some(name) => format!("the parameter `{name}` is not supported"),
        None => {
            "it has a parameter that is not supported, or is no URL; a `&`, `=` or `%` in a value is written \
                 `%26`, `%3D` or `%25`"
                .to_owned()
        }
    }
}

/// Whether a text looks like the name of a parameter.
fn is_like_a_parameter(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// The URL of a database for display, without user, password and parameters: only hosts and database name. If the URL
/// cannot be parsed, no part of it is shown.
#[must_use]
pub fn url_without_secrets(url: &str) -> String {
    let Ok(ConnectionUrl { config, tls_mode: _, roots: _, names: _ }) = ConnectionUrl::parse(url) else {
        return "postgres://?".to_owned();
    };
    let names: Vec<String> = if config.get_hosts().is_empty() {
        config.get_hostaddrs().iter().map(ToString::to_string).collect()
    } else {
        config.get_hosts().iter().map(host_name).collect()
    };
    let ports = config.get_ports();
    let hosts = names.iter().enumerate().map(|(index, name)| {
        let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        let name = without_doubt(name);
        if name.contains(':') { format!("[{name}]:{port}") } else { format!("{name}:{port}") }
    });
    let hosts: Vec<String> = hosts.collect();
    format!("postgres://{}/{}", hosts.join(","), config.get_dbname().map_or("", without_doubt))
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(folder) => folder.display().to_string(),
    }
}

/// The name, or a placeholder if it contains characters that suggest a misparsed URL.
fn without_doubt(name: &str) -> &str {
    let is_of_a_name = |sign: char| sign.is_ascii_alphanumeric() || "-_.:/".contains(sign);
    if name.chars().all(is_of_a_name) { name } else { "?" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R28.
    #[test]
    fn r28_url_is_shown_without_secrets() {
        for (url, shown) in [
            ("postgres://user:secret@db.example/signpost", "postgres://db.example:5432/signpost"),
            ("postgresql://user:sec%40ret@db.example:1/x?password=secret", "postgres://db.example:1/x"),
            ("postgresql://user:sec@ret@db.example:1/x", "postgres://?"),
            ("postgres://db.example/x?user=app&password=sec@ret", "postgres://db.example:5432/x"),
            ("postgres://db.example?user=app&password=sec@ret/x", "postgres://db.example:5432/"),
            ("postgres:///x?host=db.example&port=7&password=secret", "postgres://db.example:7/x"),
            ("postgres://u@one:1,two:2/x", "postgres://one:1,two:2/x"),
            ("postgres://u@[::1]/x", "postgres://[::1]:5432/x"),
            ("postgres://u@%2Frun%2Fpostgresql/x", "postgres:///run/postgresql:5432/x"),
            ("postgres:///x?hostaddr=10.0.0.1", "postgres://10.0.0.1:5432/x"),
            ("postgres://u:5/secret@h/x", "postgres://?"),
            ("postgres://u:p/secret@h/x", "postgres://?"),
            ("postgres://u:5?secret@h/x", "postgres://?"),
            ("postgres://u:secret", "postgres://?"),
            ("host=h password=secret", "postgres://?"),
        ] {
            assert_eq!(url_without_secrets(url), shown, "{url}");
        }
    }

    fn config(url: &str) -> Config {
        ConnectionUrl::parse(url).unwrap().config
    }

    #[test]
    fn each_host_may_have_a_port() {
        let config = config("postgres://u@h1:5432,h2:5433/x");
        assert_eq!(config.get_hosts(), [Host::Tcp("h1".to_owned()), Host::Tcp("h2".to_owned())]);
        assert_eq!(config.get_ports(), [5432, 5433]);
    }

    #[test]
    fn parameters_reach_the_driver_unchanged() {
        let url =
            "postgres://u@h/x?sslmode=disable&options=-c%20work_mem%3D8MB&password=1+1@%26&sslrootcert=/a+b";
        let parsed = ConnectionUrl::parse(url).unwrap();
        assert_eq!(parsed.config.get_options(), Some("-c work_mem=8MB"));
        assert_eq!(parsed.config.get_password(), Some(&b"1+1@&"[..]));
        assert_eq!(parsed.tls_mode.as_deref(), Some("disable"));
        assert_eq!(parsed.roots, Some(PathBuf::from("/a+b")));
        assert!(parsed.says("options") && !parsed.says("sslmode"));
    }

    #[test]
    fn password_may_contain_an_at_sign() {
        let config = config("postgres://u:p%40ss@h/x");
        assert_eq!(config.get_password(), Some(&b"p@ss"[..]));
        assert_eq!(config.get_hosts(), [Host::Tcp("h".to_owned())]);
    }

    #[test]
    fn d61_unknown_parameter_is_named() {
        for (url, name) in [
            ("postgres://u:secret@h/x?pool_size=5", "pool_size"),
            ("postgres://u:secret@h/x?sslmode=require&sslcrl=%2Fa", "sslcrl"),
            ("postgres:///x?host=h&timeout=secret", "timeout"),
        ] {
            let error = ConnectionUrl::parse(url).map(drop).unwrap_err().to_string();
            assert!(error.contains(&format!("the parameter `{name}` is not supported")), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn r28_what_may_be_a_part_of_a_password_is_not_named() {
        for url in [
            "postgres://u:p@h/x?password=a&secret=b",
            "postgres://u:5?secret=1@h/x",
            "postgres://u:p@h/x?a=b&secret%21=1",
            "postgres://u:p@h/x?secret",
        ] {
            let error = ConnectionUrl::parse(url).map(drop).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn client_certificates_are_rejected_as_unsupported() {
        for parameter in ["sslcert=/a", "sslkey=/a"] {
            let refused =
                ConnectionUrl::parse(&format!("postgres://u@h/x?{parameter}")).map(drop).unwrap_err();
            assert!(refused.to_string().contains("client certificates"), "{refused}");
        }
    }
}
