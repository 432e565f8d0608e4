//! The operation `session_create`: a shell of its own, with a terminal and a queue.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::task::spawn_local;

use super::driver::Driver;
use super::registry::Registry;
use super::shell::Shell;
use super::state::Session;
use super::terminal::Terminal;
use crate::init::context::Context;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    session_id: String,
    cwd: String,
    env: BTreeMap<String, String>,
}

pub async fn answer(
    connection: &mut Connection,
    context: &Context,
    sessions: &Rc<Registry>,
    request: Request,
) -> Outcome {
    let created = create(context, sessions, &request);
    let session = connection.unless_closed(created).await?;
    let reply = serde_json::json!({ "created_ms": session.created_ms });
    connection.reply(&reply).await
}

/// Removes the session again when its shell does not start, or when the host hangs up first.
struct Starting<'a>(&'a Registry, Option<Rc<Session>>);

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.1.take() {
            session.close();
            self.0.remove(&session);
        }
    }
}

async fn create(
    context: &Context,
    registry: &Rc<Registry>,
    request: &Request,
) -> Result<Rc<Session>, Fault> {
    let id = &request.session_id;
    registry.check_room(id)?;
    let terminal = Rc::new(Terminal::open()?);
    let session = Rc::new(Session::new(id, &terminal));
    registry.add(&session);
    let mut starting = Starting(registry, Some(Rc::clone(&session)));
    let shell = Shell::start(context, &terminal, &request.env, &request.cwd).await?;
    session.runs(&shell.end.tree);
    starting.1 = None;
    let driver = Driver {
        registry: Rc::clone(registry),
        workers: Rc::clone(&context.workers),
        session: Rc::clone(&session),
        terminal,
        shell,
        status: 0,
    };
    spawn_local(driver.drive());
    Ok(session)
}
