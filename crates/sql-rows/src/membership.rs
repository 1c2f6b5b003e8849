//! Rows of `memberships`.

use diesel::prelude::*;
use signpost_app::ports::AccountMember;
use signpost_domain::{Account, AccountId, Membership, Role, UserId};

use crate::Corrupt;
use crate::account::AccountRow;
use crate::cell::RowName;
use crate::columns::{IdBytes, Instant, StoredId};
use crate::listed::Listed;
use crate::schema::memberships;
use crate::user::UserRow;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        memberships (user_id, account_id) {
            user_id -> Identifier,
            account_id -> Identifier,
            role -> Text,
            created_at -> Moment,
        }
    }
}

const TABLE: &str = "memberships";

/// The role of a member.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = memberships, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct RoleRow {
    user_id: StoredId,
    account_id: StoredId,
    role: String,
}

impl RoleRow {
    /// The row as a value of the domain.
    pub fn into_role(self) -> Result<Role, Corrupt> {
        let Self { user_id, account_id, role } = self;
        let user = UserId::from_bytes(user_id.position());
        let account = AccountId::from_bytes(account_id.position());
        let row = RowName::new(TABLE, format_args!("{user} {account}"));
        row.cell("role", Role::from_name(&role).ok_or("is not a role"))
    }
}

/// A membership as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = memberships, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct MembershipRow {
    #[diesel(embed)]
    role: RoleRow,
    created_at: Instant,
}

/// A member of an account.
impl Listed for (MembershipRow, UserRow) {
    type Item = AccountMember;

    fn id(&self) -> &StoredId {
        self.1.id()
    }

    fn read(self) -> Result<AccountMember, Corrupt> {
        let (MembershipRow { role, created_at }, user) = self;
        let user = user.into_user()?;
        let name = format!("{} {}", user.id, AccountId::from_bytes(role.account_id.position()));
        let joined_at = RowName::new(TABLE, name).timestamp("created_at", created_at)?;
        Ok(AccountMember { user, role: role.into_role()?, joined_at })
    }
}

/// An account of a user, with the role there.
impl Listed for (RoleRow, AccountRow) {
    type Item = (Account, Role);

    fn id(&self) -> &StoredId {
        self.1.id()
    }

    fn read(self) -> Result<(Account, Role), Corrupt> {
        let (role, account) = self;
        Ok((account.into_account()?, role.into_role()?))
    }
}

/// A membership as it is inserted.
#[derive(Debug, Insertable)]
#[diesel(table_name = memberships)]
pub struct NewMembership {
    user_id: IdBytes,
    account_id: IdBytes,
    role: &'static str,
    created_at: Instant,
}

impl From<&Membership> for NewMembership {
    fn from(membership: &Membership) -> Self {
        let Membership { user_id, account_id, role, created_at } = membership;
        Self {
            user_id: (*user_id).into(),
            account_id: (*account_id).into(),
            role: role.as_str(),
            created_at: (*created_at).into(),
        }
    }
}
