//! The values of settings in the start-up log, in the form of the setting.

#![expect(
    clippy::unnecessary_wraps,
    reason = "each function returns the field of a log line, which may be absent"
)]

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use tracing::Value;
use tracing::field::display;

use super::{CommonSettings, ServeSettings};

/// The value of a log field. The log leaves out fields that are `None`.
pub(crate) type Logged = Option<Box<dyn Value>>;

/// For settings that the start-up log leaves out, such as listeners, which the line `listening` has.
pub(super) const fn hidden(_: &CommonSettings, _: &ServeSettings) -> Logged {
    None
}

pub(super) fn text(value: impl Display) -> Logged {
    Some(Box::new(value.to_string()))
}

/// A text that lines for people show without quotes.
pub(super) fn unquoted(value: impl Display) -> Logged {
    Some(Box::new(display(value.to_string())))
}

pub(super) fn number(value: impl Value + 'static) -> Logged {
    Some(Box::new(value))
}

pub(super) fn on_or_off(is_on: bool) -> Logged {
    text(if is_on { "on" } else { "off" })
}

pub(super) fn path(path: &Path) -> Logged {
    text(path.display())
}

pub(super) fn mebibytes(bytes: u64) -> Logged {
    text(format_args!("{}MiB", bytes / (1024 * 1024)))
}

pub(super) fn time(time: Duration) -> Logged {
    text(time_text(time))
}

fn time_text(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    }
}

/// The items of a list; an empty list is left out.
pub(super) fn list(items: impl IntoIterator<Item: Display>) -> Logged {
    joined(items).and_then(text)
}

/// The items in the form of a list setting; `None` for an empty list.
pub(crate) fn joined(items: impl IntoIterator<Item: Display>) -> Option<String> {
    let items: Vec<_> = items.into_iter().map(|item| item.to_string()).collect();
    (!items.is_empty()).then(|| items.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_form_of_settings() {
        assert_eq!(
            [time_text(Duration::from_millis(1500)), time_text(Duration::from_mins(10))],
            ["1500ms", "600s"]
        );
    }
}
