//! Groups (contract "Group").

use serde::Serialize;
use signpost_domain::{Group, GroupId, Timestamp};

use super::text::Text;

/// A group as the API shows it.
#[derive(Serialize)]
pub(crate) struct GroupBody {
    id: Text<GroupId>,
    object: &'static str,
    name: String,
    landings_count: u64,
    redirects_count: u64,
    created_at: Text<Timestamp>,
    updated_at: Text<Timestamp>,
}

impl From<&Group> for GroupBody {
    fn from(group: &Group) -> Self {
        let Group { id, name, landings_count, redirects_count, created_at, updated_at } = group;
        Self {
            id: Text(*id),
            object: "group",
            name: name.as_str().to_owned(),
            landings_count: *landings_count,
            redirects_count: *redirects_count,
            created_at: Text(*created_at),
            updated_at: Text(*updated_at),
        }
    }
}
