//! Instants as a person reads them: in the person's zone and language of dates.

use signpost_domain::{DateLanguage, Preferences, Timestamp};

/// An instant to the minute, such as `26 Nov 2026, 20:47`.
pub(crate) fn date_and_time(at: Timestamp, preferences: &Preferences) -> String {
    format!("{}, {}", date(at, preferences), time_of_day(at, preferences))
}

/// An instant to the second, such as `26 Nov 2026, 20:47:05`.
pub(crate) fn to_the_second(at: Timestamp, preferences: &Preferences) -> String {
    format!("{}:{:02}", date_and_time(at, preferences), at.unix_millis().div_euclid(1_000).rem_euclid(60))
}

/// The day of an instant, such as `26 Nov 2026`.
pub(crate) fn date(at: Timestamp, preferences: &Preferences) -> String {
    let local = preferences.time_zone.local(at);
    let (year, day, month) = (local.year, local.day, month_name(local.month, preferences.date_language));
    match preferences.date_language {
        DateLanguage::English | DateLanguage::French | DateLanguage::Russian => {
            format!("{day} {month} {year}")
        }
        DateLanguage::German => format!("{day}. {month} {year}"),
        DateLanguage::Spanish | DateLanguage::Portuguese => format!("{day} de {month} de {year}"),
    }
}

/// The day of an instant without its year, such as `26 Nov`.
pub(crate) fn day_of_year(at: Timestamp, preferences: &Preferences) -> String {
    let local = preferences.time_zone.local(at);
    let (day, month) = (local.day, month_name(local.month, preferences.date_language));
    match preferences.date_language {
        DateLanguage::English | DateLanguage::French | DateLanguage::Russian => format!("{day} {month}"),
        DateLanguage::German => format!("{day}. {month}"),
        DateLanguage::Spanish | DateLanguage::Portuguese => format!("{day} de {month}"),
    }
}

/// The month of an instant, such as `Nov 2026`.
pub(crate) fn month(at: Timestamp, preferences: &Preferences) -> String {
    let local = preferences.time_zone.local(at);
    format!("{} {}", month_name(local.month, preferences.date_language), local.year)
}

/// The time of day of an instant, such as `20:47`.
pub(crate) fn time_of_day(at: Timestamp, preferences: &Preferences) -> String {
    let local = preferences.time_zone.local(at);
    format!("{:02}:{:02}", local.hour, local.minute)
}

fn month_name(month: u8, language: DateLanguage) -> &'static str {
    months(language).get(usize::from(month.saturating_sub(1))).copied().unwrap_or_default()
}

const fn months(language: DateLanguage) -> [&'static str; 12] {
    match language {
        DateLanguage::English => {
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        }
        DateLanguage::German => {
            ["Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.", "Okt.", "Nov.", "Dez."]
        }
        DateLanguage::Spanish => {
            ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"]
        }
        DateLanguage::French => [
            "janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc.",
        ],
        DateLanguage::Portuguese => {
            ["jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."]
        }
        DateLanguage::Russian => [
            "янв.",
            "февр.",
            "марта",
            "апр.",
            "мая",
            "июня",
            "июля",
            "авг.",
            "сент.",
            "окт.",
            "нояб.",
            "дек.",
        ],
    }
}

/// The name of a language in that language.
pub(crate) const fn language_name(language: DateLanguage) -> &'static str {
    match language {
        DateLanguage::English => "English",
        DateLanguage::German => "Deutsch",
        DateLanguage::Spanish => "Español",
        DateLanguage::French => "Français",
        DateLanguage::Portuguese => "Português",
        DateLanguage::Russian => "Русский",
    }
}

/// A number with separators between thousands, such as `1,204`.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use signpost_domain::analytics::TimeZone;

    use super::*;

    #[test]
    fn dates_are_in_the_persons_zone_and_language() {
        let at = Timestamp::parse("2026-11-26T23:30:00Z").unwrap();
        let shown = |zone, date_language| {
            let preferences =
                Preferences { date_language, ..Preferences::in_zone(TimeZone::parse(zone).unwrap()) };
            date_and_time(at, &preferences)
        };
        assert_eq!(shown("UTC", DateLanguage::English), "26 Nov 2026, 23:30");
        let second = Timestamp::parse("2026-11-26T23:30:05.999Z").unwrap();
        assert_eq!(to_the_second(second, &Preferences::in_zone(TimeZone::utc())), "26 Nov 2026, 23:30:05");
        assert_eq!(shown("Europe/Berlin", DateLanguage::German), "27. Nov. 2026, 00:30");
        assert_eq!(shown("America/Sao_Paulo", DateLanguage::Portuguese), "26 de nov. de 2026, 20:30");
    }

    #[test]
    fn thousands_are_separated() {
        for (value, shown) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(value), shown);
        }
    }
}
