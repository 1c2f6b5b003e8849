//! Plans from a file (D15, D61).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use signpost_domain::{Feature, Plan, PlanLimits, PlanName, Plans, RequestBudget};

/// What `--help` says about the file.
pub(crate) const FORM: &str = "\
A plans file has a table for each plan, with all of these keys:
  [plans.agency]
  api_access = true
  requests_per_minute = 120
  requests_per_day = 10000
  links = 1000000
  groups = 10000
  domains = 500
  pixels = 500
  analytics_days = 1096
  features = [\"custom_domains\", \"pixels\", \"geo_blocking\", \"antibot\"]
A plan of the same name as a built-in one (free, pro, agency) replaces it;
others are added.";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    plans: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    api_access: bool,
    requests_per_minute: u32,
    requests_per_day: u32,
    links: u64,
    groups: u64,
    domains: u64,
    pixels: u64,
    analytics_days: u32,
    features: Vec<String>,
}

/// The built-in plans with those of the file.
pub(super) fn read(path: &Path) -> Result<Plans, String> {
    let in_file = |problem: String| format!("{}: {problem}", path.display());
    let text = fs::read_to_string(path).map_err(|error| in_file(format!("cannot be read: {error}")))?;
    parse(&text).map_err(in_file)
}

fn parse(text: &str) -> Result<Plans, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    file.plans.into_iter().try_fold(Plans::builtin(), |plans, (name, entry)| {
        let plan = plan(&name, entry).map_err(|problem| format!("plan `{name}`: {problem}"))?;
        Ok(plans.with(plan))
    })
}

fn plan(name: &str, entry: Entry) -> Result<Plan, String> {
    let Entry {
        api_access,
        requests_per_minute: per_minute,
        requests_per_day: per_day,
        links,
        groups,
        domains,
        pixels,
        analytics_days,
        features,
    } = entry;
    let name = PlanName::parse(name).map_err(|error| format!("the name {}", error.message()))?;
    let feature = |text: &String| {
        Feature::parse(text).map_err(|error| format!("`features`: {text:?} {}", error.message()))
    };
    Ok(Plan {
        name,
        api_access,
        budget: RequestBudget { per_minute, per_day },
        limits: PlanLimits { links, groups, domains, pixels, analytics_days },
        features: features.iter().map(feature).collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests {
    use signpost_domain::FeatureSet;

    use super::*;

    const TEAM: &str = "
        [plans.team]
        api_access = true
        requests_per_minute = 60
        requests_per_day = 5000
        links = 7
        groups = 6
        domains = 5
        pixels = 4
        analytics_days = 90
        features = [\"pixels\"]
    ";

    fn named<'a>(plans: &'a Plans, name: &str) -> &'a Plan {
        plans.get(&PlanName::parse(name).unwrap()).unwrap()
    }

    #[test]
    fn d61_a_plan_is_added_to_the_built_in_ones() {
        let plans = parse(TEAM).unwrap();
        assert_eq!(plans.iter().count(), 4);
        assert_eq!(
            *named(&plans, "team"),
            Plan {
                name: PlanName::parse("team").unwrap(),
                api_access: true,
                budget: RequestBudget { per_minute: 60, per_day: 5000 },
                limits: PlanLimits { links: 7, groups: 6, domains: 5, pixels: 4, analytics_days: 90 },
                features: FeatureSet::from_iter([Feature::Pixels]),
            }
        );
    }

    #[test]
    fn d61_a_plan_replaces_the_built_in_one_of_its_name() {
        let plans = parse(&TEAM.replace("team", "agency")).unwrap();
        assert_eq!(plans.iter().count(), 3);
        assert_eq!(named(&plans, "agency").limits.links, 7);
    }

    #[test]
    fn the_form_that_help_shows_is_the_built_in_plan() {
        let example: Vec<&str> = FORM.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert_eq!(parse(&example.join("\n")).unwrap(), Plans::builtin());
    }

    #[test]
    fn a_mistake_in_the_file_is_named() {
        for (file, named) in [
            (TEAM.replace("links = 7", "links = 7\nlanding_pages = 7"), "landing_pages"),
            (TEAM.replace("links = 7", ""), "missing field `links`"),
            (TEAM.replace("links = 7", "links = -7"), "links = -7"),
            (TEAM.replace("requests_per_day = 5000", "requests_per_day = 5000000000"), "requests_per_day"),
            (TEAM.replace("\"pixels\"", "\"pixel\""), "plan `team`: `features`: \"pixel\" must be one of"),
            (TEAM.replace("plans.team", "plans.\"Team!\""), "plan `Team!`: the name must be"),
            (format!("{TEAM}\n[limits]"), "limits"),
            ("plans = 1".to_owned(), "plans"),
        ] {
            let message = parse(&file).unwrap_err();
            assert!(message.contains(named), "{message}");
        }
    }
}
