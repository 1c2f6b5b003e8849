//! Core dumps, which would hold keys and passwords (R28).

/// Switches core dumps off for this process, whatever the service manager and the shell allow. Other processes of the same
/// user can no longer read its memory either.
pub(crate) fn switch_off() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        // Lowering a limit is always allowed.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Linux ignores the limit if a program such as systemd-coredump receives the dumps.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}
