//! What has a colour stands out from its ground in both themes, as WCAG 2.2 asks: the marks of charts by at least 3:1 (1.4.11), texts
//! by at least 4.5:1 (1.4.3).

use signpost_dashboard::assets;

/// The colours of a custom property, in light and in dark.
fn colours(style: &str, name: &str) -> [[u8; 3]; 2] {
    let start = format!("--{name}:light-dark(");
    let (_, rest) = style.split_once(&start).unwrap_or_else(|| panic!("no {name}"));
    let (light, rest) = rest.split_once(',').unwrap();
    [light, rest.split(')').next().unwrap()].map(colour)
}

fn colour(hex: &str) -> [u8; 3] {
    let digits = hex.trim_start_matches('#');
    // Three digits are short for each of them twice.
    let long: String = if digits.len() == 3 {
        digits.chars().flat_map(|digit| [digit, digit]).collect()
    } else {
        digits.to_owned()
    };
    [0, 2, 4].map(|start| u8::from_str_radix(&long[start..start + 2], 16).unwrap())
}

fn luminance(colour: [u8; 3]) -> f64 {
    let [r, g, b] = colour.map(|channel| {
        let part = f64::from(channel) / 255.0;
        if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

fn ratio(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn d67_marks_of_charts_have_a_contrast_of_at_least_3_to_1_in_both_themes() {
    let style = str::from_utf8(assets::style().body).unwrap();
    let ground = colours(style, "card");
    // Bars, the outlines of partial ones and of the focus; the line of the previous period.
    for mark in ["mark", "soft"] {
        for (theme, (colour, ground)) in colours(style, mark).into_iter().zip(ground).enumerate() {
            let ratio = ratio(colour, ground);
            assert!(ratio >= 3.0, "--{mark} in theme {theme}: {ratio:.2}");
        }
    }
    // The texts of the axes and of columns.
    for text in ["soft", "ink"] {
        for (colour, ground) in colours(style, text).into_iter().zip(ground) {
            assert!(ratio(colour, ground) >= 4.5, "--{text}");
        }
    }
    assert!((ratio([0; 3], [255; 3]) - 21.0).abs() < 0.001);
}

/// The tones of badges are neutral, good and bad.
#[test]
fn d128_badges_of_states_have_a_contrast_of_at_least_4_5_to_1_in_both_themes() {
    let style = str::from_utf8(assets::style().body).unwrap();
    let ground = colours(style, "card");
    for tone in ["soft", "mark", "bad"] {
        for (theme, (colour, ground)) in colours(style, tone).into_iter().zip(ground).enumerate() {
            let ratio = ratio(colour, ground);
            assert!(ratio >= 4.5, "--{tone} in theme {theme}: {ratio:.2}");
        }
    }
}
