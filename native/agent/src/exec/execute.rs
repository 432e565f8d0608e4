//! Runs a command to its end within its limits, and collects its output.

use serde::Serialize;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

use super::command::Command;
use super::ending;
use super::live::Live;
use super::pipes::{Collected, Outputs};
use super::report::Report;
use super::spawn::{self, Channel, Spawned, supervisor_lost};
use crate::init::context::Context;
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::fault::Fault;

/// The status that `timeout` of coreutils uses.
const TIMED_OUT_EXIT_CODE: i32 = 124;
/// Time for a killed tree to end. The host waits longer than this after the deadline.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// Upper bounds, whatever the host asks for.
const MAX_OUTPUT_BYTES: usize = 8 << 20;
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

pub struct Limits {
    pub timeout: Duration,
    pub output_bytes: usize,
}

impl Limits {
    pub fn new(timeout_ms: u64, output_bytes: usize) -> Self {
        Self {
            timeout: Duration::from_millis(timeout_ms).min(MAX_TIMEOUT),
            output_bytes: output_bytes.min(MAX_OUTPUT_BYTES),
        }
    }
}

pub struct Finished {
    exit_code: i32,
    timed_out: bool,
    duration: Duration,
    collected: Collected,
}

/// Dropping the future kills the command's whole tree.
pub async fn execute(
    context: &Context,
    command: Command,
    limits: &Limits,
    live: Option<Rc<Live>>,
) -> Result<Finished, Fault> {
    let started = Instant::now();
    let Spawned {
        channel,
        stdout,
        stderr,
    } = spawn::spawn(&command)?;
    let mut outputs = Outputs::new(stdout, stderr, limits.output_bytes)?;
    if let Some(live) = live {
        outputs.show(live);
    }
    let ended = tokio::select! {
        biased;
        ended = run_to_end(context, command, channel, started + limits.timeout) => ended?,
        broken = outputs.pump() => return Err(broken.map_or_else(Fault::from, |()| supervisor_lost())),
    };
    Ok(Finished {
        exit_code: ended.exit_code,
        timed_out: ended.timed_out,
        duration: started.elapsed(),
        collected: outputs.finish(),
    })
}

/// Runs `work` unless the host hangs up first, and meanwhile sends the output that `live` gets.
pub async fn watched<T>(
    connection: &mut Connection,
    live: Option<Rc<Live>>,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Interrupted> {
    match live {
        Some(live) => live.during(connection, work).await,
        None => connection.unless_closed(work).await,
    }
}

pub async fn reply(connection: &mut Connection, finished: Finished) -> Outcome {
    #[derive(Serialize)]
    struct Reply {
        exit_code: i32,
        timed_out: bool,
        truncated: bool,
        duration_ms: u64,
        stdout_bytes: usize,
        stderr_bytes: usize,
        output_bytes: usize,
    }
    let Collected {
        stdout,
        stderr,
        output,
    } = finished.collected;
    let reply = Reply {
        exit_code: finished.exit_code,
        timed_out: finished.timed_out,
        truncated: stdout.truncated || stderr.truncated || output.truncated,
        duration_ms: finished.duration.as_millis() as u64,
        stdout_bytes: stdout.bytes.len(),
        stderr_bytes: stderr.bytes.len(),
        output_bytes: output.bytes.len(),
    };
    connection
        .reply_with_data(&reply, &[&stdout.bytes, &stderr.bytes, &output.bytes])
        .await
}

struct Ended {
    exit_code: i32,
    timed_out: bool,
}

impl Ended {
    const TIMED_OUT: Self = Self {
        exit_code: TIMED_OUT_EXIT_CODE,
        timed_out: true,
    };

    fn by_itself(status: i32) -> Self {
        Self {
            exit_code: ending::exit_code(status),
            timed_out: false,
        }
    }
}

async fn run_to_end(
    context: &Context,
    command: Command,
    channel: Channel,
    deadline: Instant,
) -> Result<Ended, Fault> {
    let pid = match channel.next().await? {
        Some((Report::Started, pid)) => pid,
        Some((failed, errno)) => return Err(spawn::start_fault(&command.names, failed, errno)),
        None => return Err(supervisor_lost()),
    };
    let names = command.into_names();
    let exit = context.reaper.watch(pid);
    let ended = tokio::select! {
        biased;
        status = ending::wait(&channel, &names, pid, exit) => Ended::by_itself(status?),
        () = sleep_until(deadline) => {
            channel.kill();
            let _ = timeout(KILL_PATIENCE, channel.next()).await;
            Ended::TIMED_OUT
        }
    };
    Ok(ended)
}
