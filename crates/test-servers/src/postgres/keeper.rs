//! A script that starts a server, and outlives the tests to remove it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Creates the server's files and then obeys orders: `start` the server, and `ended` to note its end. When its input
/// closes, however the tests end, it stops the server and removes the folder. It ignores the signals that a terminal sends
/// to all processes.
///
/// A killed server that did not start again leaves a shared memory segment, whose id is in its pid file.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
folder=$1 programs=$2 server=
shift 2
"$@" "$programs/initdb" -D "$folder/data" -U signpost -A trust -E UTF8 --locale=C --no-sync --no-instructions \
    </dev/null >"$folder/log" 2>&1 || echo "initdb: error: it has failed" >>"$folder/log"
while read -r order
do
    case $order in
    start)
        "$@" "$programs/postgres" -D "$folder/data" -c config_file="$folder/server.conf" </dev/null >>"$folder/log" 2>&1 &
        server=$!
        ;;
    ended)
        wait "$server"
        server=
        ;;
    esac
done
if [ -n "$server" ]
then
    kill -CONT "$server"
    kill -QUIT "$server"
    wait "$server"
fi
memory=$(sed -n '7s/.* //p' "$folder/data/postmaster.pid") && [ -n "$memory" ] && ipcrm -m "$memory"
rm -rf "$folder"
"#;

/// The running script. Dropping it removes the server.
#[derive(Debug)]
pub(super) struct Keeper {
    script: Child,
    /// The input of the script.
    orders: Option<ChildStdin>,
}

impl Keeper {
    /// Starts to create the files of a server in `folder`. If the tests run as root, the server runs as `postgres` or
    /// `nobody`, who then owns the folder and its content.
    pub(super) fn start(folder: &Path, programs: &Path) -> Self {
        let mut script = Command::new("sh");
        script.args(["-c", SCRIPT, "keeper"]).arg(folder).arg(programs);
        // PostgreSQL refuses to run as root.
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            let (uid, gid) = unprivileged();
            let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            for path in files.chain([folder.to_path_buf()]) {
                chown(path, Some(uid), Some(gid)).unwrap();
            }
            let (user, group) = (format!("--reuid={uid}"), format!("--regid={gid}"));
            script.args(["setpriv", &user, &group, "--clear-groups", "--"]);
        } else {
            script.args(["env", "--"]);
        }
        let mut script = script
            .current_dir("/")
            // Tests read the log.
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let orders = script.stdin.take();
        Self { script, orders }
    }

    /// Starts the server, once its files exist.
    pub(super) fn start_server(&mut self) {
        self.order("start");
    }

    /// Reaps the ended server. Until then no other process can get its id.
    pub(super) fn server_has_ended(&mut self) {
        self.order("ended");
    }

    fn order(&mut self, order: &str) {
        writeln!(self.orders.as_ref().unwrap(), "{order}").unwrap();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.script.wait();
    }
}

/// The user and group ids of `postgres`, or of `nobody` if that user does not exist.
fn unprivileged() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().unwrap());
        Some((fields.next()?, fields.next()?))
    };
    ids("postgres").or_else(|| ids("nobody")).expect("a user that is not root")
}
