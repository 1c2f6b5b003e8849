//! Plans from a file (D15, D61).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use signpost_domain::{Feature, FeatureSet, Plan, PlanLimits, PlanName, PlanResource, Plans, RequestBudget};
use toml::Table;

use super::toml_file;

/// The form of the file, as `--help` shows it: with the built-in plan `agency`.
pub(crate) fn form() -> String {
    let limits = PlanLimits::AGENCY;
    let keys = PlanResource::ALL.map(|resource| format!("  {} = {}", resource.as_str(), limits.of(resource)));
    format!(
        "\
A plans file has a table for each plan, with these keys:
  [plans.agency]
  api_access = true
  requests_per_minute = 120
  requests_per_day = 10000
{}
  analytics_days = {}
  features = [\"custom_domains\", \"pixels\", \"geo_blocking\", \"antibot\", \"link_access\", \"routing\", \"link_previews\"]
A plan of the same name as a built-in one (free, pro, agency, unlimited)
replaces it; others are added. With extends = \"agency\" a plan takes the keys
that it leaves out from that plan, which may be built in or in the same file.
unlimited is for accounts of your own; no account gets it unasked.",
        keys.join("\n"),
        limits.analytics_days
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    plans: BTreeMap<String, Table>,
}

/// A plan as written in the file. Keys that it leaves out come from the plan that it extends.
#[derive(Deserialize)]
struct Entry {
    extends: Option<String>,
    api_access: Option<bool>,
    requests_per_minute: Option<u32>,
    requests_per_day: Option<u32>,
    analytics_days: Option<u32>,
    features: Option<Vec<String>>,
    /// The limits of resources, which have keys of their own in the file.
    #[serde(skip)]
    limits: BTreeMap<PlanResource, u64>,
}

impl Entry {
    /// The keys of a plan beside its limits of resources.
    const KEYS: [&str; 6] =
        ["extends", "api_access", "requests_per_minute", "requests_per_day", "analytics_days", "features"];

    /// Reads the table of a plan.
    fn read(mut table: Table) -> Result<Self, String> {
        let mut limits = BTreeMap::new();
        for resource in PlanResource::ALL {
            if let Some((key, value)) = table.remove_entry(resource.as_str()) {
                // In a table of its own the error names the key.
                let own = Table::from_iter([(key, value)]).try_into::<BTreeMap<String, u64>>();
                let own = own.map_err(|error| in_one_line(&error))?;
                limits.extend(own.into_values().map(|limit| (resource, limit)));
            }
        }
        if let Some(unknown) = table.keys().find(|key| !Self::KEYS.contains(&key.as_str())) {
            let known = Self::KEYS.into_iter().chain(PlanResource::ALL.map(PlanResource::as_str));
            let known: Vec<&str> = known.collect();
            return Err(format!("unknown key `{unknown}`, expected one of {}", known.join(", ")));
        }
        let entry = table.try_into::<Self>().map_err(|error| in_one_line(&error))?;
        Ok(Self { limits, ..entry })
    }
}

/// The built-in plans, with those of the file replaced or added.
pub(super) fn read(path: &Path) -> Result<Plans, String> {
    let in_file = |problem: String| format!("{}: {problem}", path.display());
    let text = fs::read_to_string(path).map_err(|error| in_file(format!("cannot be read: {error}")))?;
    parse(&text).map_err(in_file)
}

fn parse(text: &str) -> Result<Plans, String> {
    let file: File = toml_file::parse(text)?;
    let mut entries = BTreeMap::new();
    for (name, table) in file.plans {
        let in_plan = |problem: String| format!("plan `{name}`: {problem}");
        let parsed =
            PlanName::parse(&name).map_err(|error| in_plan(format!("the name {}", error.message())))?;
        let entry = Entry::read(table).map_err(in_plan)?;
        entries.insert(parsed, entry);
    }
    let file = PlansOfFile { entries, builtin: Plans::builtin() };
    file.entries.keys().try_fold(file.builtin.clone(), |plans, name| {
        let plan = file.plan(name, &[]).map_err(|problem| format!("plan `{name}`: {problem}"))?;
        Ok(plans.with(plan))
    })
}

/// The error on one line. The library puts the key on a line of its own.
fn in_one_line(error: &toml::de::Error) -> String {
    error.to_string().lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

struct PlansOfFile {
    entries: BTreeMap<PlanName, Entry>,
    builtin: Plans,
}

impl PlansOfFile {
    /// The plan with this name. `extending` are the plans that lead to it through `extends`.
    fn plan(&self, name: &PlanName, extending: &[&PlanName]) -> Result<Plan, String> {
        let known =
            || self.builtin.get(name).cloned().ok_or_else(|| format!("`extends`: there is no plan `{name}`"));
        // A plan that extends its own name extends the built-in plan, and replaces it.
        if extending.last() == Some(&name) {
            return self
                .builtin
                .get(name)
                .cloned()
                .ok_or_else(|| "`extends`: a plan cannot extend itself".to_owned());
        }
        let Some(entry) = self.entries.get(name) else { return known() };
        if extending.contains(&name) {
            return Err("`extends`: a plan cannot extend itself, not even through other plans".to_owned());
        }
        let base = match &entry.extends {
            Some(base) => {
                let base = PlanName::parse(base)
                    .map_err(|error| format!("`extends`: {base:?} {}", error.message()))?;
                let extending: Vec<_> = extending.iter().copied().chain([name]).collect();
                Some(self.plan(&base, &extending)?)
            }
            None => None,
        };
        entry.over(name, base.as_ref())
    }
}

impl Entry {
    /// The complete plan: keys that the entry leaves out come from `base`.
    fn over(&self, name: &PlanName, base: Option<&Plan>) -> Result<Plan, String> {
        let Self {
            extends: _,
            api_access,
            requests_per_minute,
            requests_per_day,
            analytics_days,
            features,
            limits,
        } = self;
        let feature = |text: &String| {
            Feature::parse(text).map_err(|error| format!("`features`: {text:?} {}", error.message()))
        };
        let features = features
            .as_ref()
            .map(|features| features.iter().map(feature).collect::<Result<FeatureSet, _>>())
            .transpose()?;
        Ok(Plan {
            name: name.clone(),
            api_access: given("api_access", *api_access, base.map(|base| base.api_access))?,
            budget: RequestBudget {
                per_minute: given(
                    "requests_per_minute",
                    *requests_per_minute,
                    base.map(|base| base.budget.per_minute),
                )?,
                per_day: given("requests_per_day", *requests_per_day, base.map(|base| base.budget.per_day))?,
            },
            limits: PlanLimits::try_of_each(
                given("analytics_days", *analytics_days, base.map(|base| base.limits.analytics_days))?,
                |resource| {
                    let own = limits.get(&resource).copied();
                    let of_base = base.map(|base| base.limits.of(resource));
                    given(resource.as_str(), own, of_base.or(of_older_files(resource)))
                },
            )?,
            features: given("features", features, base.map(|base| base.features))?,
        })
    }
}

/// The limit on a resource that files of earlier versions do not name, so that they still start the program.
const fn of_older_files(resource: PlanResource) -> Option<u64> {
    match resource {
        PlanResource::Tags => Some(PlanLimits::AGENCY.tags),
        PlanResource::Links | PlanResource::Groups | PlanResource::Domains | PlanResource::Pixels => None,
    }
}

/// The entry's own value of a key, or the value of the extended plan.
fn given<T>(key: &str, own: Option<T>, of_base: Option<T>) -> Result<T, String> {
    own.or(of_base).ok_or_else(|| {
        format!("`{key}` is missing: add it, or extend a plan that has it, such as extends = \"agency\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plan with a limit of 7 on each resource.
    fn team() -> String {
        let limits = PlanResource::ALL.map(|resource| format!("{} = 7", resource.as_str())).join("\n");
        format!(
            "[plans.team]\napi_access = true\nrequests_per_minute = 60\nrequests_per_day = 5000\n{limits}\n\
             analytics_days = 90\nfeatures = [\"pixels\"]\n"
        )
    }

    fn named<'a>(plans: &'a Plans, name: &str) -> &'a Plan {
        plans.get(&PlanName::parse(name).unwrap()).unwrap()
    }

    #[test]
    fn d61_a_plan_is_added_to_the_built_in_ones() {
        let plans = parse(&team()).unwrap();
        assert_eq!(plans.iter().count(), 5);
        assert_eq!(
            *named(&plans, "team"),
            Plan {
                name: PlanName::parse("team").unwrap(),
                api_access: true,
                budget: RequestBudget { per_minute: 60, per_day: 5000 },
                limits: PlanLimits::try_of_each(90, |_| Ok::<_, String>(7)).unwrap(),
                features: FeatureSet::from_iter([Feature::Pixels]),
            }
        );
    }

    #[test]
    fn d61_a_plan_replaces_the_built_in_one_of_its_name() {
        let plans = parse(&team().replace("team", "agency")).unwrap();
        assert_eq!(plans.iter().count(), 4);
        assert_eq!(named(&plans, "agency").limits.links, 7);
    }

    #[test]
    fn d61_keys_that_a_plan_leaves_out_come_from_the_extended_plan() {
        let plans = parse(
            "[plans.agency]\nextends = \"agency\"\nlinks = 5\n\
             [plans.team]\nextends = \"agency\"\nfeatures = [\"pixels\"]\n\
             [plans.small]\nextends = \"team\"\napi_access = false",
        )
        .unwrap();
        let builtin = Plans::builtin();
        let builtin = named(&builtin, "agency");
        let agency = Plan { limits: PlanLimits { links: 5, ..builtin.limits }, ..builtin.clone() };
        assert_eq!(*named(&plans, "agency"), agency);
        let name = |text| PlanName::parse(text).unwrap();
        let team =
            Plan { name: name("team"), features: FeatureSet::from_iter([Feature::Pixels]), ..agency.clone() };
        assert_eq!(*named(&plans, "team"), team);
        assert_eq!(*named(&plans, "small"), Plan { name: name("small"), api_access: false, ..team });
    }

    /// A new version starts with the files of the previous one.
    #[test]
    fn a_plan_of_a_file_from_before_tags_allows_as_many_as_agency() {
        let plans = parse(&team().replace("tags = 7", "")).unwrap();
        assert_eq!(named(&plans, "team").limits.tags, 5_000);
    }

    #[test]
    fn the_plan_in_help_is_the_built_in_plan() {
        let form = form();
        let example: Vec<&str> = form.lines().filter_map(|line| line.strip_prefix("  ")).collect();
        assert_eq!(parse(&example.join("\n")).unwrap(), Plans::builtin());
    }

    #[test]
    fn an_error_names_the_plan_and_the_key() {
        for (file, named) in [
            (team().replace("links = 7", "links = 7\nlanding_pages = 7"), "landing_pages"),
            (team().replace("links = 7", ""), "plan `team`: `links` is missing"),
            (
                team().replace("links = 7", "links = -7"),
                "plan `team`: invalid value: integer `-7`, expected u64 in `links`",
            ),
            (
                team().replace("requests_per_day = 5000", "requests_per_day = 5000000000"),
                "in `requests_per_day`",
            ),
            (
                team().replace("links = 7", "extends = \"gold\""),
                "plan `team`: `extends`: there is no plan `gold`",
            ),
            (team().replace("links = 7", "extends = \"Gold\""), "plan `team`: `extends`: \"Gold\" must be"),
            (
                team().replace("links = 7", "extends = \"team\""),
                "plan `team`: `extends`: a plan cannot extend itself",
            ),
            (
                "[plans.a]\nextends = \"b\"\n[plans.b]\nextends = \"a\"".to_owned(),
                "plan `a`: `extends`: a plan cannot extend itself",
            ),
            (team().replace("\"pixels\"", "\"pixel\""), "plan `team`: `features`: \"pixel\" must be one of"),
            (team().replace("plans.team", "plans.\"Team!\""), "plan `Team!`: the name must be"),
            (format!("{}\n[limits]", team()), "limits"),
            ("plans = 1".to_owned(), "line 1, column 9: "),
        ] {
            let message = parse(&file).unwrap_err();
            assert!(message.contains(named), "{message}");
        }
    }
}
