//! The resources of an account that its plan limits, each declared once: how it is made, stored, read, counted and corrupted.
//! The cases about all of them take them from here, and so do the plan tests of PostgreSQL.

use signpost_app::ports::{
    InsertCustomDomainError, InsertGroupError, InsertResourceError, Store, StoreError, UnitOfWork,
};
use signpost_domain::{AccountId, CustomDomain, Group, Page, PagePosition, Pixel, PlanResource};

use super::corrupt_rows::{Literals, Rubbish, rubbish};
use super::domain_steps::checked_at;
use super::given::{self, Decision, PLENTY};
use crate::samples;

/// A kind of resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// Groups.
    Group,
    /// Pixels.
    Pixel,
    /// Custom domains.
    Domain,
}

/// A resource.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there are few of them at a time")]
pub enum Resource {
    /// A group.
    Group(Group),
    /// A pixel.
    Pixel(Pixel),
    /// A custom domain.
    Domain(CustomDomain),
}

impl ResourceKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Group, Self::Pixel, Self::Domain];

    /// A new resource for an account. Domains with different texts have different hostnames.
    #[must_use]
    pub fn sample(self, account: AccountId, text: &str) -> Resource {
        match self {
            Self::Group => Resource::Group(samples::group(text)),
            Self::Pixel => Resource::Pixel(samples::pixel(text)),
            Self::Domain => Resource::Domain(samples::custom_domain(account, &format!("{text}.example.net"))),
        }
    }

    /// What counts it.
    pub(super) const fn counter(self) -> PlanResource {
        match self {
            Self::Group => PlanResource::Groups,
            Self::Pixel => PlanResource::Pixels,
            Self::Domain => PlanResource::Domains,
        }
    }

    /// Whether units of work lock it.
    pub(super) const fn is_locked(self) -> bool {
        match self {
            Self::Group | Self::Domain => true,
            Self::Pixel => false,
        }
    }

    /// The table of an SQL store.
    #[must_use]
    pub const fn table(self) -> &'static str {
        match self {
            Self::Group => "groups",
            Self::Pixel => "pixels",
            Self::Domain => "custom_domains",
        }
    }

    /// Whether an SQL store can be filled with copies of a row that differ only in id and account. A custom domain also needs
    /// its own hostname.
    #[must_use]
    pub const fn can_be_copied(self) -> bool {
        match self {
            Self::Group | Self::Pixel => true,
            Self::Domain => false,
        }
    }

    /// Rubbish in columns that every reader of the row must report. Domains have cases of their own.
    pub(super) fn rubbish(self, literals: &Literals) -> Vec<Rubbish> {
        let (columns, times) = match self {
            Self::Group => (
                rubbish([
                    ("name", "''", "'corrupt'"),
                    ("redirects_count", "-1", "0"),
                    ("landings_count", "-1", "0"),
                ]),
                &["updated_at"][..],
            ),
            Self::Pixel => (
                rubbish([
                    ("type", "'secret'", "'google_tag'"),
                    ("code", "'</script>secret'", "'G-1A2BCD345E'"),
                    ("name", "''", "'corrupt'"),
                ]),
                &["created_at"][..],
            ),
            Self::Domain => (Vec::new(), &[][..]),
        };
        [columns, literals.of_times(times)].concat()
    }

    /// The statement that makes the row of the sample `b` unreadable.
    pub(super) fn corrupt_b(self) -> String {
        let table = self.table();
        match self {
            Self::Group | Self::Pixel => format!("UPDATE {table} SET name = '' WHERE name = 'b'"),
            Self::Domain => format!("UPDATE {table} SET hostname = 'no host' WHERE hostname LIKE 'b.%'"),
        }
    }

    pub(super) async fn count(self, store: &dyn Store, account: AccountId) -> u64 {
        store.usage(account).await.unwrap().unwrap().of(self.counter())
    }

    /// One page of an account's resources of this kind, newest first.
    pub async fn page(
        self,
        store: &dyn Store,
        account: AccountId,
        items: u64,
        after: Option<PagePosition>,
    ) -> Page<Resource> {
        let limit = given::limit(items);
        match self {
            Self::Group => store.groups(account, limit, after).await.unwrap().map(Resource::Group),
            Self::Pixel => store.pixels(account, limit, after).await.unwrap().map(Resource::Pixel),
            Self::Domain => {
                let page = store.custom_domains(account, limit, after).await.unwrap();
                page.map(|found| Resource::Domain(found.domain))
            }
        }
    }

    /// All of an account's resources of this kind, newest first.
    pub(super) async fn list(self, store: &dyn Store, account: AccountId) -> Vec<Resource> {
        given::walk(async |after| self.page(store, account, 100, after).await).await.0
    }
}

impl Resource {
    /// The bytes of its id, and the id as text.
    fn id(&self) -> ([u8; 16], String) {
        match self {
            Self::Group(group) => (group.id.to_bytes(), group.id.to_string()),
            Self::Pixel(pixel) => (pixel.id.to_bytes(), pixel.id.to_string()),
            Self::Domain(domain) => (domain.id.to_bytes(), domain.id.to_string()),
        }
    }

    /// Its id, as errors and log lines have it.
    #[must_use]
    pub fn id_text(&self) -> String {
        self.id().1
    }

    /// The position behind it in a list.
    pub(super) fn position(&self) -> PagePosition {
        PagePosition::behind(self.id().0)
    }

    /// The resource with the id of another one of its kind.
    pub(super) fn with_id_of(self, other: &Self) -> Self {
        match (self, other) {
            (Self::Group(group), Self::Group(other)) => Self::Group(Group { id: other.id, ..group }),
            (Self::Pixel(pixel), Self::Pixel(other)) => Self::Pixel(Pixel { id: other.id, ..pixel }),
            (Self::Domain(domain), Self::Domain(other)) => {
                Self::Domain(CustomDomain { id: other.id, ..domain })
            }
            (resource, other) => panic!("{resource:?} and {other:?} are of different kinds"),
        }
    }

    /// Inserts it, unless the account has as many as `limit`.
    ///
    /// # Errors
    /// What the store says.
    pub async fn insert(
        &self,
        work: &mut dyn UnitOfWork,
        account: AccountId,
        limit: u64,
    ) -> Result<(), InsertError> {
        match self {
            Self::Group(group) => work.insert_group(account, group, limit).await.map_err(InsertError::Group),
            Self::Pixel(pixel) => work.insert_pixel(account, pixel, limit).await.map_err(InsertError::Pixel),
            Self::Domain(domain) => {
                let inserted = work.insert_custom_domain(domain, checked_at(1), limit).await;
                inserted.map_err(InsertError::Domain)
            }
        }
    }

    /// Returns `true` if it existed.
    ///
    /// # Errors
    /// What the store says.
    pub async fn delete(&self, work: &mut dyn UnitOfWork, account: AccountId) -> Result<bool, StoreError> {
        match self {
            Self::Group(group) => work.delete_group(account, group.id, samples::at(1)).await,
            Self::Pixel(pixel) => work.delete_pixel(account, pixel.id).await,
            Self::Domain(domain) => work.delete_custom_domain(account, domain.id).await,
        }
    }

    /// The resource as a unit of work locks it, if it does.
    pub(super) async fn locked(
        &self,
        work: &mut dyn UnitOfWork,
        account: AccountId,
    ) -> Result<Option<Self>, StoreError> {
        Ok(match self {
            Self::Group(group) => work.lock_group(account, group.id).await?.map(Self::Group),
            Self::Pixel(_) => None,
            Self::Domain(domain) => {
                let found = work.lock_custom_domain(account, domain.id).await?;
                found.map(|found| Self::Domain(found.domain))
            }
        })
    }

    /// The resource as the store reads it for an account.
    ///
    /// # Errors
    /// What the store says.
    pub async fn read(&self, store: &dyn Store, account: AccountId) -> Result<Option<Self>, StoreError> {
        Ok(match self {
            Self::Group(group) => store.group(account, group.id).await?.map(Self::Group),
            Self::Pixel(pixel) => store.pixel(account, pixel.id).await?.map(Self::Pixel),
            Self::Domain(domain) => {
                let found = store.custom_domain(account, domain.id).await?;
                found.map(|found| Self::Domain(found.domain))
            }
        })
    }

    pub(super) async fn stored(&self, store: &dyn Store, account: AccountId) -> Option<Self> {
        self.read(store, account).await.unwrap()
    }
}

/// A stored resource of a store that a test corrupts, whose units of work never repeat.
pub async fn insert_one(store: &dyn Store, account: AccountId, resource: &Resource) {
    let mut work = store.begin().await.unwrap();
    resource.insert(work.as_mut(), account, PLENTY).await.unwrap();
    work.commit().await.unwrap();
}

/// Why a resource was not inserted.
#[derive(Debug)]
pub enum InsertError {
    /// A group.
    Group(InsertGroupError),
    /// A pixel.
    Pixel(InsertResourceError),
    /// A custom domain.
    Domain(InsertCustomDomainError),
}

impl InsertError {
    /// Whether the store refuses a taken id like this: by a decision for a group, which imports bring with its id, and by a failure
    /// otherwise.
    pub(super) const fn is_of_a_taken_id(&self) -> bool {
        match self {
            Self::Group(error) => matches!(error, InsertGroupError::IdTaken),
            Self::Pixel(error) => matches!(error, InsertResourceError::Store(_)),
            Self::Domain(error) => {
                matches!(error, InsertCustomDomainError::Resource(InsertResourceError::Store(_)))
            }
        }
    }
}

impl From<InsertError> for Decision {
    fn from(error: InsertError) -> Self {
        match error {
            InsertError::Group(error) => error.into(),
            InsertError::Pixel(error) => error.into(),
            InsertError::Domain(error) => error.into(),
        }
    }
}
