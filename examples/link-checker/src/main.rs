//! Checks slugs, targets, hostnames and the states of custom domains by Signpost's rules, without a server.
//!
//! ```text
//! link-checker slug autumn-sale target https://example.com/sale hostname go.example.com
//! link-checker domain 70h proven 71h ready
//! ```

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use signpost_domain::{CustomDomainStatus, DomainEvent, FieldError, Hostname, Slug, TargetUrl, Timestamp};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let found = match arguments.split_first() {
        Some((first, events)) if first == "domain" => domain(events),
        _ => values(&arguments),
    };
    match found {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Checks pairs of a kind and a value. It fails if a value is invalid.
fn values(arguments: &[String]) -> Result<(), String> {
    let (pairs, rest) = arguments.as_chunks();
    if pairs.is_empty() || !rest.is_empty() {
        return Err(
            "Usage: link-checker (slug|target|hostname VALUE)... | domain (HOURSh EVENT)...".to_owned()
        );
    }
    let mut are_valid = true;
    for [kind, value] in pairs {
        let checked = match kind.as_str() {
            "slug" => Slug::parse(value).map(|slug| match slug.is_reserved_on_system_domain() {
                true => format!("{} (only on custom domains)", slug.as_str()),
                false => slug.as_str().to_owned(),
            }),
            "target" => TargetUrl::parse(value).map(|target| target.location()),
            "hostname" => Hostname::parse(value).map(|hostname| hostname.as_str().to_owned()),
            _ => return Err(format!("`{kind}` is not a kind of value: use slug, target or hostname.")),
        };
        are_valid &= checked.is_ok();
        println!("{}", line(kind, value, &checked));
    }
    if are_valid { Ok(()) } else { Err("Some values are invalid.".to_owned()) }
}

fn line(kind: &str, value: &str, checked: &Result<String, FieldError>) -> String {
    match checked {
        Ok(normal) => format!("{kind} {normal}"),
        Err(error) => format!("{kind} {value:?} {}: {}", error.code().as_str(), error.message()),
    }
}

/// Prints the states of a custom domain that is claimed now, as time passes and events arrive.
fn domain(arguments: &[String]) -> Result<(), String> {
    let (events, rest) = arguments.as_chunks();
    if !rest.is_empty() {
        return Err("Each event needs a time before it, such as `70h proven`.".to_owned());
    }
    let claimed = Timestamp::from_unix_millis(0).ok_or("No such time.")?;
    let mut status = CustomDomainStatus::claimed(claimed);
    println!("0h {}", status.as_str());
    for [time, event] in events {
        let hours = time.strip_suffix('h').and_then(|hours| hours.parse().ok());
        let now = claimed
            .plus(Duration::from_hours(hours.ok_or(format!("`{time}` is not a time such as `70h`."))?));
        status = status.at(now).after(event_named(event)?, now);
        println!("{time} {event}: {}", status.as_str());
    }
    Ok(())
}

fn event_named(name: &str) -> Result<DomainEvent, String> {
    match name {
        "proven" => Ok(DomainEvent::Proven),
        "ready" => Ok(DomainEvent::CertificateReady),
        "here" => Ok(DomainEvent::PointsHere),
        "elsewhere" => Ok(DomainEvent::PointsElsewhere),
        "displaced" => Ok(DomainEvent::Displaced),
        "reclaimed" => Ok(DomainEvent::Reclaimed),
        _ => Err(format!("`{name}` is not an event.")),
    }
}
