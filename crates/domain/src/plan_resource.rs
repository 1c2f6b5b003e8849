//! The resources that a plan limits by count (D15).

/// Declares each resource once: its name in answers, plans and stores, the word for one of it, and its limits in the built-in
/// plans.
macro_rules! plan_resources {
    (
        $(
            #[doc = $description:literal]
            $resource:ident $name:ident $noun:literal { free: $free:literal, pro: $pro:literal, agency: $agency:literal }
        )*
    ) => {
        /// A resource that a plan limits by count.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum PlanResource {
            $(#[doc = $description] $resource,)*
        }

        impl PlanResource {
            /// All resources.
            pub const ALL: [Self; [$(Self::$resource),*].len()] = [$(Self::$resource),*];

            /// The name in answers and plans.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$resource => stringify!($name),)*
                }
            }

            /// One of it, in a sentence; with an `s` for several.
            #[must_use]
            pub const fn noun(self) -> &'static str {
                match self {
                    $(Self::$resource => $noun,)*
                }
            }

            /// What is counted, as a sentence of the API's description.
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$resource => $description.trim_ascii_start(),)*
                }
            }
        }

        /// The limits of a plan: how many of each resource, and the longest period of analytics.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct PlanLimits {
            $(#[doc = $description] pub $name: u64,)*
            /// The longest period of an analytics request, in days.
            pub analytics_days: u32,
        }

        impl PlanLimits {
            /// The limits of the built-in plan `free`.
            pub const FREE: Self = Self { $($name: $free,)* analytics_days: 31 };
            /// The limits of the built-in plan `pro`.
            pub const PRO: Self = Self { $($name: $pro,)* analytics_days: 366 };
            /// The limits of the built-in plan `agency`.
            pub const AGENCY: Self = Self { $($name: $agency,)* analytics_days: 1_096 };
            /// The limits of the built-in plan `unlimited`.
            pub const UNLIMITED: Self = Self { $($name: 100_000_000,)* analytics_days: 3_660 };

            /// Limits with the result of `limit` for each resource.
            ///
            /// # Errors
            /// The first error of `limit`.
            pub fn try_of_each<E>(
                analytics_days: u32,
                mut limit: impl FnMut(PlanResource) -> Result<u64, E>,
            ) -> Result<Self, E> {
                Ok(Self { $($name: limit(PlanResource::$resource)?,)* analytics_days })
            }

            /// The limit on one resource.
            #[must_use]
            pub const fn of(&self, resource: PlanResource) -> u64 {
                match resource {
                    $(PlanResource::$resource => self.$name,)*
                }
            }
        }

        /// An account's usage of its plan's limits (D15).
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Usage {
            $(#[doc = $description] pub $name: u64,)*
        }

        impl Usage {
            /// Usage with the result of `count` for each resource.
            ///
            /// # Errors
            /// The first error of `count`.
            pub fn try_of_each<E>(mut count: impl FnMut(PlanResource) -> Result<u64, E>) -> Result<Self, E> {
                Ok(Self { $($name: count(PlanResource::$resource)?,)* })
            }

            /// The usage of one resource.
            #[must_use]
            pub const fn of(&self, resource: PlanResource) -> u64 {
                match resource {
                    $(PlanResource::$resource => self.$name,)*
                }
            }
        }
    };
}

plan_resources! {
    /// Landing pages and redirects together.
    Links links "link" { free: 50, pro: 1_000, agency: 1_000_000 }
    /// Groups.
    Groups groups "group" { free: 5, pro: 50, agency: 10_000 }
    /// Custom domains.
    Domains domains "custom domain" { free: 0, pro: 3, agency: 500 }
    /// Pixels.
    Pixels pixels "pixel" { free: 0, pro: 10, agency: 500 }
    /// Tags of links.
    Tags tags "tag" { free: 20, pro: 200, agency: 5_000 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d15_limits_and_usage_say_the_same_of_each_resource() {
        let number = |resource| {
            let position = PlanResource::ALL.iter().position(|one| *one == resource).unwrap();
            u64::try_from(position).unwrap()
        };
        let usage = Usage::try_of_each(|resource| Ok::<_, ()>(number(resource))).unwrap();
        let limits = PlanLimits::try_of_each(9, |resource| Ok::<_, ()>(number(resource))).unwrap();
        for resource in PlanResource::ALL {
            assert_eq!((usage.of(resource), limits.of(resource)), (number(resource), number(resource)));
        }
        assert_eq!((usage.links, usage.pixels, limits.groups, limits.analytics_days), (0, 3, 1, 9));
        assert_eq!(PlanResource::Domains.description(), "Custom domains.");
        assert_eq!(PlanResource::Domains.noun(), "custom domain");
        let refused = |resource| if resource == PlanResource::Domains { Err(resource) } else { Ok(0) };
        assert_eq!(Usage::try_of_each(refused), Err(PlanResource::Domains));
    }
}
