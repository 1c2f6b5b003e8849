//! What starts a server, and is still there to remove it when the tests are not.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Makes the server's files and does as it is told: `start` the server, and take note that it has `ended`. When the pipe
/// that it reads from closes, in whatever way the tests end, it ends the server and removes the folder. The signals
/// that a terminal sends to all must not end it before that.
///
/// A server that was killed and did not start again has left a piece of shared memory, whose number is in its file.
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
    /// What the script reads from.
    orders: Option<ChildStdin>,
}

impl Keeper {
    /// Begins to make the files of a server in `folder`. Where the tests run as root, the server does not: the folder, and
    /// what is in it, becomes that of the user `postgres`, or of `nobody`.
    pub(super) fn start(folder: &Path, programs: &Path) -> Self {
        let mut script = Command::new("sh");
        script.args(["-c", SCRIPT, "keeper"]).arg(folder).arg(programs);
        // As root it refuses to run.
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
            // The log is read.
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let orders = script.stdin.take();
        Self { script, orders }
    }

    /// Starts the server, after its files are made.
    pub(super) fn start_server(&mut self) {
        self.order("start");
    }

    /// Takes note that the server has ended. Until then its number is not given to another process.
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

/// The ids of the user `postgres`, or `nobody` where there is none, and of their group.
fn unprivileged() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(|field| field.parse().unwrap());
        Some((fields.next()?, fields.next()?))
    };
    ids("postgres").or_else(|| ids("nobody")).expect("a user that is not root")
}
