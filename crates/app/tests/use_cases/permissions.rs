//! What use cases ask of their caller. `crates/xtask/src/permissions.rs` checks that each asks, first and for the permission
//! that fits.

use signpost_app::{AppError, groups};
use signpost_domain::{PageLimit, Permission, PermissionSet, Refusal};

use crate::world::{World, refusal};

#[tokio::test]
async fn a_caller_has_the_permissions_to_which_it_is_limited() {
    let world = World::new().await;
    for lacking in Permission::SCOPES {
        let others: PermissionSet =
            Permission::SCOPES.into_iter().filter(|other| *other != lacking).collect();
        let caller = world.caller().await.limited_to(others);
        for asked in Permission::SCOPES {
            let refused = (asked == lacking).then_some(Refusal::NotPermitted(lacking));
            assert_eq!(caller.require(asked).err(), refused, "{asked:?} without {lacking:?}");
        }
    }
}

#[tokio::test]
async fn d80_a_key_has_no_permission_beyond_its_scopes() {
    let caller = World::new().await.caller().await;
    for permission in Permission::ALL {
        let is_scope = Permission::SCOPES.contains(&permission);
        let refused = (!is_scope).then_some(Refusal::NotPermitted(permission));
        assert_eq!(caller.require(permission).err(), refused, "{permission:?}");
    }
}

#[tokio::test]
async fn a_use_case_is_refused_without_its_permission() {
    let world = World::new().await;
    let list = async |permissions| -> Result<(), AppError> {
        let caller = world.caller().await.limited_to(permissions);
        groups::list(&world.app, &caller, PageLimit::default(), None).await.map(drop)
    };
    list([Permission::Read].into_iter().collect()).await.unwrap();
    assert_eq!(refusal(list(PermissionSet::default()).await), Refusal::NotPermitted(Permission::Read));
}
