//! The operation `context_create`: starts an interpreter that stays, or starts one anew.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::spawn_local;
use tokio::time::timeout;

use super::kernel::{About, ENDED, Ends, Kernel};
use super::messages::{Control, Message};
use super::program::{self, Language};
use super::registry::Registry;
use crate::exec::ending;
use crate::exec::report::Report;
use crate::exec::spawn::{self, Spawned, supervisor_lost};
use crate::init::context::Context;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, END_PROCESSES, Fault};

/// Time for an interpreter to start.
const START_PATIENCE: Duration = Duration::from_secs(20);

const PIPE_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    context_id: String,
    language: Language,
    cwd: String,
    env: BTreeMap<String, String>,
    /// Most memory of each of its processes.
    memory_mb: Option<u64>,
    /// Ends a context of that id first.
    replace: bool,
}

pub async fn answer(
    connection: &mut Connection,
    context: &Context,
    contexts: &Rc<Registry>,
    request: Request,
) -> Outcome {
    let created = create(context, contexts, request);
    let kernel = connection.unless_closed(created).await?;
    let reply = serde_json::json!({ "created_ms": kernel.created_ms });
    connection.reply(&reply).await
}

async fn create(
    context: &Context,
    registry: &Rc<Registry>,
    request: Request,
) -> Result<Rc<Kernel>, Fault> {
    let id = request.context_id.clone();
    if request.replace
        && let Ok(old) = registry.find(&id)
    {
        old.kill(ENDED);
        old.ended().await;
        registry.remove(&old);
    }
    let _place = registry.begin(&id)?;
    let kernel = start(context, request).await?;
    registry.add(&kernel);
    Ok(kernel)
}

/// Resolves when the interpreter waits for its first code.
async fn start(context: &Context, request: Request) -> Result<Rc<Kernel>, Fault> {
    let (mut control, other) = Control::pair()?;
    let Request {
        language,
        cwd,
        env,
        memory_mb,
        ..
    } = request;
    let command = program::command(context, language, (&cwd, &env), memory_mb, other)?;
    let Spawned {
        channel,
        stdout,
        stderr,
    } = spawn::spawn(&command)?;
    for pipe in [&stdout, &stderr] {
        // What it prints before its first run has to find room.
        let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
    }
    let pid = match channel.next().await? {
        Some((Report::Started, pid)) => pid,
        Some((failed, errno)) => return Err(spawn::start_fault(&command.names, failed, errno)),
        None => return Err(supervisor_lost()),
    };
    let names = command.into_names();
    let exit = context.reaper.watch(pid);
    tokio::select! {
        biased;
        message = timeout(START_PATIENCE, control.incoming.next()) => match message {
            Ok(Some(Message::Ready)) => {}
            _ => return Err(failed_start(&channel, &names).await),
        },
        report = channel.next() => return Err(match report? {
            Some((failed @ (Report::CwdFailed | Report::ExecFailed | Report::UserFailed), errno)) => {
                spawn::start_fault(&names, failed, errno)
            }
            _ => not_ready(),
        }),
    }
    let about = About {
        id: request.context_id,
        language,
        user: request.user,
        cwd,
        memory_mb,
    };
    let ends = Ends {
        control,
        stdout,
        stderr,
    };
    let kernel = Kernel::new(about, pid, channel, ends);
    let followed = Rc::clone(&kernel);
    let reaper = Rc::clone(&context.reaper);
    spawn_local(async move {
        let tree = followed.tree();
        let status = ending::wait(&tree, &names, pid, exit).await;
        if !reaper.is_ending() {
            followed.ended_with(status.unwrap_or(libc::SIGKILL));
        }
    });
    Ok(kernel)
}

/// The program may have failed to execute, which closes its end of the channel too.
async fn failed_start(channel: &spawn::Channel, names: &crate::exec::command::Names) -> Fault {
    let report = timeout(Duration::from_secs(1), channel.next()).await;
    match report {
        Ok(Ok(Some((
            failed @ (Report::CwdFailed | Report::ExecFailed | Report::UserFailed),
            errno,
        )))) => spawn::start_fault(names, failed, errno),
        _ => not_ready(),
    }
}

fn not_ready() -> Fault {
    Fault::new(
        Code::ResourceExhausted,
        "The context's interpreter did not start; the sandbox may be out of processes or memory.",
    )
    .hint(END_PROCESSES)
}
