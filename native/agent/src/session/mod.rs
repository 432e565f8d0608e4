//! Shells that outlive a connection, with the logs of their commands. All of it lives here, beside the
//! processes: a service that restarts finds it as it was, and the end of the sandbox ends it.

mod control;
mod driver;
mod fifos;
mod follow;
mod record;
mod registry;
mod replies;
mod shell;
mod state;
mod terminal;

use serde::Deserialize;
use std::collections::BTreeMap;
use std::rc::Rc;
use tokio::task::spawn_local;

use crate::server::Context;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;
use driver::Driver;
use registry::Registry;
use replies::{list, logs, run, type_in};
use shell::Shell;
use state::Session;
use terminal::Terminal;

#[derive(Default)]
pub struct Sessions(Rc<Registry>);

#[derive(Debug, Deserialize)]
#[serde(tag = "op", deny_unknown_fields)]
pub enum Request {
    #[serde(rename = "session_create")]
    Create {
        v: u32,
        session_id: String,
        cwd: String,
        env: BTreeMap<String, String>,
    },
    #[serde(rename = "session_list")]
    List { v: u32 },
    #[serde(rename = "session_run")]
    Run(Run),
    #[serde(rename = "session_logs")]
    Logs {
        v: u32,
        session_id: String,
        command_id: String,
    },
    #[serde(rename = "session_follow")]
    Follow(Follow),
    #[serde(rename = "session_input")]
    Input {
        v: u32,
        session_id: String,
        command_id: String,
        /// A newline is added.
        input: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    v: u32,
    session_id: String,
    command_id: String,
    command: String,
    /// How long to wait for the command's turn, and then for its end, before the answer.
    wait_turn_ms: u64,
    wait_run_ms: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    v: u32,
    session_id: String,
    command_id: String,
    /// How many bytes of the output are known already; past all that there is, the command's end is waited for.
    offset: u64,
    wait_ms: u64,
}

impl Request {
    /// The version that knows of this operation first.
    pub fn since(&self) -> u32 {
        match self {
            Self::Follow(_) => 3,
            _ => 2,
        }
    }

    pub fn version(&self) -> u32 {
        match self {
            Self::Run(Run { v, .. })
            | Self::Follow(Follow { v, .. })
            | Self::Create { v, .. }
            | Self::List { v }
            | Self::Logs { v, .. }
            | Self::Input { v, .. } => *v,
        }
    }
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let registry = &context.sessions.0;
    match request {
        Request::Create {
            session_id,
            cwd,
            env,
            ..
        } => {
            let created = create(context, registry, &session_id, &cwd, &env);
            let session = connection.unless_closed(created).await?;
            let reply = serde_json::json!({ "created_ms": session.created_ms });
            connection.reply(&reply).await
        }
        Request::List { .. } => list(connection, registry).await,
        Request::Run(request) => run(connection, registry, request).await,
        Request::Logs {
            session_id,
            command_id,
            ..
        } => logs(connection, registry, &session_id, &command_id).await,
        Request::Follow(request) => follow::follow(connection, registry, request).await,
        Request::Input {
            session_id,
            command_id,
            input,
            ..
        } => {
            let sent = type_in(registry, &session_id, &command_id, input);
            let state = connection.unless_closed(sent).await?;
            connection
                .reply(&serde_json::json!({ "state": state }))
                .await
        }
    }
}

/// Takes the session away again when its shell does not come up, or the host hangs up before.
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
    id: &str,
    cwd: &str,
    env: &BTreeMap<String, String>,
) -> Result<Rc<Session>, Fault> {
    registry.check_room(id)?;
    let terminal = Rc::new(Terminal::open()?);
    let session = Rc::new(Session::new(id, &terminal));
    registry.add(&session);
    let mut starting = Starting(registry, Some(Rc::clone(&session)));
    let shell = Shell::start(context, &terminal, env, cwd).await?;
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
