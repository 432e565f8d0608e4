//! The operation `terminal_open`: makes a terminal where none has the id, and adds a viewer to it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::spawn_local;

use super::driver::Driver;
use super::position::Position;
use super::registry::Registry;
use super::state::Terminal;
use super::view;
use crate::exec::terminal::{self, Size};
use crate::init::context::Context;
use crate::process::start::{Ends, Program, Running};
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

/// Size of a terminal whose first viewer has none.
const USUAL_SIZE: Size = Size {
    columns: 80,
    rows: 24,
};
/// Time for a program to see one size before the next.
const REPAINT_PAUSE: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    terminal_id: String,
    /// Size of the viewer's window.
    size: Option<Size>,
    /// None: opens existing terminals only.
    create: Option<Create>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    argv: Vec<String>,
    cwd: String,
    env: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Reply {
    created: bool,
    created_ms: u64,
    size: Size,
    /// This many of the first bytes were printed before.
    scrollback_bytes: u64,
}

pub async fn answer(
    connection: &mut Connection,
    context: &Context,
    terminals: &Rc<Registry>,
    request: Request,
) -> Outcome {
    let size = request.size;
    let opened = open(context, terminals, request);
    let (terminal, created) = connection.unless_closed(opened).await?;
    let seat = terminals.enter(terminal, size)?;
    let position = Position::new(&seat);
    let reply = Reply {
        created,
        created_ms: seat.terminal.created_ms,
        size: seat.terminal.size(),
        scrollback_bytes: position.scrollback_bytes(),
    };
    if seat.terminal.ring().has_lost_a_picture() {
        let terminal = Rc::clone(&seat.terminal);
        spawn_local(async move { terminal.repaint(REPAINT_PAUSE).await });
    }
    connection.reply(&reply).await?;
    view::hold(connection, &seat, position).await
}

/// Returns the terminal, and true where it is new.
async fn open(
    context: &Context,
    registry: &Rc<Registry>,
    request: Request,
) -> Result<(Rc<Terminal>, bool), Fault> {
    let id = &request.terminal_id;
    registry.settled(id).await;
    if let Some(terminal) = registry.find(id) {
        return Ok((terminal, false));
    }
    let Some(create) = request.create else {
        return Err(Registry::not_found(id));
    };
    registry.check_seats()?;
    let starting = registry.begin(id)?;
    let size = request.size.unwrap_or(USUAL_SIZE);
    let program = Program::of_sandbox(create.argv, create.cwd, create.env);
    let running = program
        .start_with_terminal(context, size)?
        .running(context)
        .await?;
    let terminal = begin(context, registry, id, running, size)?;
    drop(starting);
    Ok((terminal, true))
}

fn begin(
    context: &Context,
    registry: &Rc<Registry>,
    id: &str,
    running: Running,
    size: Size,
) -> Result<Rc<Terminal>, Fault> {
    let pid = running.pid;
    let (ends, ended) = running.split();
    let Ends {
        terminal: Some(terminal::Terminal { master, slave }),
        ..
    } = ends
    else {
        return Err(Fault::invalid("create", "The program has no terminal."));
    };
    let reading = master.try_clone()?;
    let made = Rc::new(Terminal::new(id, pid, master, size));
    let driver = Driver::new(registry, &made, reading, slave, &context.reaper)?;
    registry.add(&made);
    spawn_local(driver.drive(ended));
    Ok(made)
}
