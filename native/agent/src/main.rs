//! PID 1 of a sandbox. It serves the agent protocol (`protocol/README.md`) on the listening unix socket that
//! the launcher hands in as descriptor 3, or over TLS on the network, and it reaps every orphan of the sandbox.
//!
//!     sandhaven-agent --sandbox-id <id> --generation <n>
//!                     [--listen tls://<address>:<port> --tls-dir <folder> --service <URI> [--root-disk <folder>]]
//!     sandhaven-agent … --listen … --carry <folder>
//!     sandhaven-agent --sftp-server
//!
//! It holds no environment, and no secret but the key of its own certificate: a request brings all that its
//! command needs. It runs on one thread, beside a few workers that are made at the start, since none can be
//! made during a fork bomb.

mod accounts;
mod carrier;
mod code;
mod contexts;
mod detached;
mod dispatch;
mod exec;
mod files;
mod init;
mod link;
mod own_figures;
mod process;
mod search;
mod session;
mod sftp;
mod terminal;
mod trust;
mod tunnel;
mod users;
mod wire;

use std::process::ExitCode;

use init::{boot, server};

fn main() -> ExitCode {
    if sftp::entry::is_asked_for() {
        return sftp::entry::run();
    }
    let served = boot::prepare().and_then(|mut boot| match boot.carried.take() {
        Some(disk) => server::run(boot, |context| carrier::serve::start(context, disk)),
        None => server::run(boot, dispatch::start),
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("sandhaven-agent: {reason}");
            ExitCode::FAILURE
        }
    }
}
