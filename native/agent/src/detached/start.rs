//! The operation `process_start`: starts a program that goes on when the host hangs up.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::spawn_local;

use super::driver::Driver;
use super::registry::Registry;
use super::state::{Detached, Screen};
use crate::exec::terminal::{Size, Terminal};
use crate::init::context::Context;
use crate::process::start::{Ends, Program, Running};
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

/// Upper bound, whatever the host asks for.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);
const MAX_LABEL_BYTES: usize = 1 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    argv: Vec<String>,
    cwd: String,
    env: BTreeMap<String, String>,
    terminal: Option<Size>,
    tag: Option<String>,
    label: String,
    timeout_ms: u64,
}

#[derive(Serialize)]
struct Reply {
    pid: i32,
    started_ms: u64,
}

pub async fn answer(
    connection: &mut Connection,
    context: &Context,
    processes: &Rc<Registry>,
    request: Request,
) -> Outcome {
    if request.label.len() > MAX_LABEL_BYTES {
        return Err(Fault::invalid("label", "The label is too long.").into());
    }
    let place = processes.begin(request.tag.clone())?;
    let program = Program::of_sandbox(request.argv, request.cwd, request.env);
    let starting = match request.terminal {
        Some(size) => program.start_with_terminal(context, size)?,
        None => program.start_with_pipes(context)?,
    };
    let running = connection.unless_closed(starting.running(context)).await?;
    let timeout = Duration::from_millis(request.timeout_ms).min(MAX_TIMEOUT);
    let named = (request.tag, request.label);
    let process = begin(
        context,
        processes,
        running,
        named,
        request.terminal,
        timeout,
    )?;
    drop(place);
    let reply = Reply {
        pid: process.pid,
        started_ms: process.started_ms,
    };
    connection.reply(&reply).await
}

fn begin(
    context: &Context,
    registry: &Rc<Registry>,
    running: Running,
    (tag, label): (Option<String>, String),
    size: Option<Size>,
    timeout: Duration,
) -> Result<Rc<Detached>, Fault> {
    let pid = running.pid;
    let (ends, ended) = running.split();
    let Ends {
        stdin,
        outputs,
        terminal,
    } = ends;
    let (screen, slave) = terminal
        .zip(size)
        .map(|(Terminal { master, slave }, size)| (Screen::new(master, size), slave))
        .unzip();
    let process = Rc::new(Detached::new(pid, tag, label, stdin, screen));
    registry.add(&process);
    let driver = Driver {
        registry: Rc::clone(registry),
        process: Rc::clone(&process),
        outputs,
        slave,
        reaper: Rc::clone(&context.reaper),
    };
    spawn_local(driver.drive(ended, timeout));
    Ok(process)
}
