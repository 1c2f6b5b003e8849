//! Figures of several rounds, and the goals of their ratios.

/// The goal of a ratio.
#[derive(Debug, Clone, Copy)]
pub(super) enum Goal {
    AtLeast(f64),
    AtMost(f64),
    /// No goal: the ratio is only for information.
    None,
}

impl Goal {
    pub(super) fn shown(self, ratio: f64) -> (String, &'static str) {
        let met = |is_met| if is_met { "yes" } else { "NO" };
        match self {
            Self::AtLeast(goal) => (format!("≥ {goal:.2}"), met(ratio >= goal)),
            Self::AtMost(goal) => (format!("≤ {goal:.2}"), met(ratio <= goal)),
            Self::None => (String::new(), ""),
        }
    }
}

/// The median of the rounds, and their spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub(super) median: f64,
    /// The distance from the lowest to the highest round, as a fraction of the median.
    pub(super) spread: f64,
}

impl Figure {
    pub(super) fn of(mut rounds: Vec<f64>) -> Self {
        rounds.sort_by(f64::total_cmp);
        let at = |index: usize| rounds.get(index).copied().unwrap_or(f64::NAN);
        let (last, middle) = (rounds.len().saturating_sub(1), rounds.len() / 2);
        let median = if rounds.len() % 2 == 1 {
            at(middle)
        } else {
            f64::midpoint(at(middle.wrapping_sub(1)), at(middle))
        };
        Self { median, spread: (at(last) - at(0)) / median }
    }
}

#[cfg(test)]
mod tests {
    use super::Figure;

    #[test]
    fn a_figure_has_the_median_and_the_spread() {
        assert_eq!(Figure::of(vec![8.0, 30.0, 10.0]), Figure { median: 10.0, spread: 2.2 });
        assert_eq!(Figure::of(vec![4.0, 2.0]), Figure { median: 3.0, spread: 2.0 / 3.0 });
    }
}
