//! The service's root helper. It is static and single-threaded, because it moves itself between namespaces
//! and then becomes another program.
//!
//! - `start`: disk, overlay and agent socket of one machine, all in one private mount namespace, then the machine itself: by
//!   `runc run`, or directly
//! - `pin-namespaces`: user and network namespaces of slots and their links, made ahead of time
//! - `unpin-namespaces`: removes them, and their links
//! - `slots-folder`: makes the folder of slots a mount of its own
//! - `spawner`: starts programs for the service, this one among them
//! - `notify`: hands messages and sockets of the service to the service manager
//! - `flush-early`: keeps the flushes of the host's disk short
//! - `ready-loop-devices`: bounds the loop devices that come next, ahead of need
//! - `mount-disk-store`: mounts the volume in which disks lie
//! - `try-device-rules`: finds out if the kernel takes rules about devices for a group of version 2
//! - `fetch`: runs a program whose one way out is a proxy that asks the service; it alone has threads
//! - `count-locks`: counts the file locks of each slot, whoever holds their files
//! - `exec`: any other helper program, inside the fence and holding the lock of the disk that it works on

mod bpf;
mod cgroups;
mod devices;
mod direct;
mod disk_store;
mod exec;
mod failure;
mod fence;
mod fetch;
mod figures;
mod flusher;
mod image;
mod locks;
mod loop_device;
mod machine;
mod mounts;
mod notify;
mod process;
mod runc;
mod slots;
mod socket;
mod spare;
mod spawner;

use failure::{Failure, usage};
use lexopt::{Arg::Value, ValueExt};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// `exec`, and `start` with runc, return only when they fail: they become another program.
fn run() -> Result<(), Failure> {
    let mut args = lexopt::Parser::from_env();
    let command = args.next()?;
    // The spawner keeps the priority of the service; each launcher that it starts takes the usual one here.
    if !matches!(&command, Some(Value(command)) if command == "spawner") {
        process::priority::make_usual()?;
    }
    match command {
        Some(Value(command)) if command == "spawner" => spawner::run(),
        Some(Value(command)) if command == "flush-early" => match args.next()? {
            Some(Value(folder)) => flusher::run(Path::new(&folder)),
            _ => Err(usage("expected a folder on the disk")),
        },
        Some(Value(command)) if command == "notify" => match args.next()? {
            Some(Value(socket)) => notify::run(&socket.to_string_lossy(), &texts(args)?),
            _ => Err(usage("expected the socket of the manager")),
        },
        Some(Value(command)) if command == "start" => machine::start(args),
        Some(Value(command)) if command == "exec" => match exec::exec(args)? {},
        Some(Value(command)) if command == "fetch" => fetch::run(args),
        Some(Value(command)) if command == "pin-namespaces" => slots::pin(args),
        Some(Value(command)) if command == "slots-folder" => match args.next()? {
            Some(Value(folder)) => slots::make_own(Path::new(&folder)),
            _ => Err(usage("expected the folder of slots")),
        },
        Some(Value(command)) if command == "unpin-namespaces" => slots::unpin(args),
        Some(Value(command)) if command == "ready-loop-devices" => {
            loop_device::make_ready(args.value()?.parse()?)
        }
        Some(Value(command)) if command == "mount-disk-store" => disk_store::run(args),
        Some(Value(command)) if command == "try-device-rules" => direct::device_rules::try_out(),
        Some(Value(command)) if command == "count-locks" => {
            locks::run(args.value()?.parse()?, args.value()?.parse()?)
        }
        _ => Err(usage(
            "expected a command: start, exec, fetch, pin-namespaces, unpin-namespaces, slots-folder, spawner, flush-early, notify, ready-loop-devices, mount-disk-store, try-device-rules, count-locks",
        )),
    }
}

/// The arguments that are left.
fn texts(mut args: lexopt::Parser) -> Result<Vec<String>, Failure> {
    let texts = args.raw_args()?;
    Ok(texts
        .map(|text| text.to_string_lossy().into_owned())
        .collect())
}
