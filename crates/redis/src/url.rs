//! The URL of Redis.

use std::fmt;
use std::str::FromStr;

use redis::{ConnectionInfo, IntoConnectionInfo as _};

/// The URL of Redis, in one of four forms:
///
/// - `redis://[[user]:password@]host[:port][/database]`
/// - `rediss://…`, the same over TLS. The server's certificate is always verified.
/// - `redis-cluster://[[user]:password@]host[:port][,host[:port]]…`: some nodes of a cluster, which know the others.
/// - `rediss-cluster://…`, the same over TLS.
///
/// The default port is 6379. Special characters in a user or a password are percent-encoded. Neither `Display` nor `Debug`
/// shows these.
///
/// ```
/// # use signpost_redis::RedisUrl;
/// let url: RedisUrl = "redis-cluster://:s3cret@10.0.0.1,10.0.0.2:7000".parse().unwrap();
/// assert_eq!(url.to_string(), "redis-cluster://10.0.0.1,10.0.0.2:7000");
/// assert!("http://10.0.0.1".parse::<RedisUrl>().is_err());
/// ```
#[derive(Clone)]
pub struct RedisUrl {
    pub(crate) nodes: Vec<ConnectionInfo>,
    pub(crate) is_cluster: bool,
    pub(crate) is_tls: bool,
    /// The URL without credentials.
    shown: String,
}

/// Why a text is not a valid Redis URL. It may contain a password, so no message repeats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedisUrlError {
    /// It has another scheme.
    #[error("must begin with redis://, rediss://, redis-cluster:// or rediss-cluster://")]
    Scheme,
    /// The host is missing or invalid.
    #[error("must name a host and may name a port, from 1 to 65535")]
    Host,
    /// The database is not a number, or a cluster has one.
    #[error("may end with the number of a database after a slash, but not for a cluster, which has only one")]
    Database,
    /// It has a query or a fragment.
    #[error("takes no parameters: `?` and `#` in a password are written %3F and %23")]
    Parameters,
}

impl FromStr for RedisUrl {
    type Err = RedisUrlError;

    fn from_str(text: &str) -> Result<Self, RedisUrlError> {
        let (scheme, rest) = text.split_once("://").ok_or(RedisUrlError::Scheme)?;
        let (is_cluster, is_tls) = match scheme {
            "redis" => (false, false),
            "rediss" => (false, true),
            "redis-cluster" => (true, false),
            "rediss-cluster" => (true, true),
            _ => return Err(RedisUrlError::Scheme),
        };
        if rest.contains(['?', '#']) {
            return Err(RedisUrlError::Parameters);
        }
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let is_number = database.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || is_cluster && !database.is_empty() {
            return Err(RedisUrlError::Database);
        }
        let (credentials, hosts) = match authority.rsplit_once('@') {
            Some((credentials, hosts)) => (format!("{credentials}@"), hosts),
            None => (String::new(), authority),
        };
        let scheme_of_node = if is_tls { "rediss" } else { "redis" };
        let nodes = if is_cluster { hosts.split(',').collect() } else { vec![hosts] };
        let nodes = nodes
            .into_iter()
            .map(|host| {
                if host.is_empty() || host.contains(',') || host.ends_with(":0") {
                    return Err(RedisUrlError::Host);
                }
                let node = format!("{scheme_of_node}://{credentials}{host}/{database}");
                // What remains is the host, the port, or an out-of-range database number.
                node.into_connection_info().map_err(|_| RedisUrlError::Host)
            })
            .collect::<Result<Vec<ConnectionInfo>, RedisUrlError>>()?;
        let slash = if database.is_empty() { "" } else { "/" };
        let shown = format!("{scheme}://{hosts}{slash}{database}");
        Ok(Self { nodes, is_cluster, is_tls, shown })
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::{RedisUrl, RedisUrlError};

    #[test]
    fn the_four_forms() {
        for (text, nodes, is_cluster, is_tls) in [
            ("redis://localhost", vec!["localhost:6379"], false, false),
            ("redis://10.0.0.1:7000/3", vec!["10.0.0.1:7000"], false, false),
            ("rediss://user:p%40ss@[::1]:7000", vec!["::1:7000"], false, true),
            ("redis-cluster://a,b:7001,[::1]:7002", vec!["a:6379", "b:7001", "::1:7002"], true, false),
            ("rediss-cluster://:secret@a", vec!["a:6379"], true, true),
        ] {
            let url: RedisUrl = text.parse().unwrap();
            let found: Vec<String> = url.nodes.iter().map(|node| node.addr().to_string()).collect();
            assert_eq!(
                (found, url.is_cluster, url.is_tls),
                (nodes.iter().map(ToString::to_string).collect(), is_cluster, is_tls)
            );
        }
        let url: RedisUrl = "redis://user:p%40ss@host/3".parse().unwrap();
        let settings = url.nodes[0].redis_settings();
        assert_eq!(
            (settings.db(), settings.username(), settings.password()),
            (3, Some("user"), Some("p@ss"))
        );
    }

    #[test]
    fn invalid_urls_are_rejected_with_the_reason() {
        for (text, error) in [
            ("", RedisUrlError::Scheme),
            ("localhost:6379", RedisUrlError::Scheme),
            ("http://localhost", RedisUrlError::Scheme),
            ("REDIS+CLUSTER://localhost", RedisUrlError::Scheme),
            ("redis://", RedisUrlError::Host),
            ("redis:///3", RedisUrlError::Host),
            ("redis://a:0", RedisUrlError::Host),
            ("redis://a:65536", RedisUrlError::Host),
            ("redis://a,b", RedisUrlError::Host),
            ("redis://0.0.0.0", RedisUrlError::Host),
            ("redis-cluster://a,,b", RedisUrlError::Host),
            ("redis://a/first", RedisUrlError::Database),
            ("redis://a/-1", RedisUrlError::Database),
            ("redis-cluster://a/0", RedisUrlError::Database),
            ("redis://a?protocol=resp3", RedisUrlError::Parameters),
            ("rediss://a/#insecure", RedisUrlError::Parameters),
        ] {
            assert_eq!(text.parse::<RedisUrl>().map(|url| url.to_string()), Err(error), "{text}");
        }
    }

    #[test]
    fn password_is_never_shown() {
        let url: RedisUrl = "rediss://ada:s3cret@host:7000/2".parse().unwrap();
        assert_eq!(format!("{url} {url:?}"), "rediss://host:7000/2 rediss://host:7000/2");
    }
}
