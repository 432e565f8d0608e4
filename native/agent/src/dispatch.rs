//! Answers the request of each connection.

use serde::Serialize;
use tokio::net::UnixStream;

use crate::message::{Core, PROTOCOL_VERSION, Request};
use crate::server::Context;
use crate::wire::connection::{Connection, Interrupted, Outcome, protocol_fault};
use crate::wire::fault::{Code, Fault};
use crate::{code, exec, files, process, search, session, tunnel};

pub async fn serve(stream: UnixStream, context: &Context) {
    let mut connection = Connection::new(stream);
    if let Err(Interrupted::Fault(fault)) = answer(&mut connection, context).await {
        connection.refuse(&fault).await;
    }
}

async fn answer(connection: &mut Connection, context: &Context) -> Outcome {
    let payload = connection.request().await?;
    let request = Request::parse(&payload).map_err(|error| protocol_fault(&error.to_string()))?;
    drop(payload);
    if let Some(version) = request.version()
        && !(request.since()..=PROTOCOL_VERSION).contains(&version)
    {
        return Err(unsupported_version().into());
    }
    if let Some(figures) = &context.figures
        && request.may_show_figures()
    {
        figures.on_request();
    }
    match request {
        Request::Core(request) => answer_core(connection, context, request).await,
        Request::Process(request) => process::answer(connection, context, request).await,
        Request::Search(request) => search::answer(connection, context, request).await,
        Request::Session(request) => session::answer(connection, context, request).await,
        Request::Tunnel(request) => tunnel::answer(connection, context, request).await,
    }
}

async fn answer_core(connection: &mut Connection, context: &Context, request: Core) -> Outcome {
    match request {
        Core::Hello {
            versions,
            sandbox_id,
            generation,
        } => hello(connection, context, &versions, &sandbox_id, generation).await,
        Core::Watch { .. } => {
            connection.reply(&serde_json::json!({})).await?;
            connection.closed().await;
            Ok(())
        }
        Core::Exec(request) => exec::run(connection, context, request).await,
        Core::StartBackground(request) => {
            exec::start_background(connection, context, request).await
        }
        Core::RunCode(request) => code::run(connection, context, request).await,
        request => files::answer(connection, context, request).await,
    }
}

async fn hello(
    connection: &mut Connection,
    context: &Context,
    versions: &[u32],
    sandbox_id: &str,
    generation: u64,
) -> Outcome {
    #[derive(Serialize)]
    struct Hello<'a> {
        version: u32,
        sandbox_id: &'a str,
        generation: u64,
        agent: &'static str,
    }
    let own = &context.identity;
    let version = versions
        .iter()
        .copied()
        .filter(|version| (1..=PROTOCOL_VERSION).contains(version))
        .max()
        .ok_or_else(unsupported_version)?;
    if sandbox_id != own.sandbox_id || generation != own.generation {
        return Err(Fault::new(
            Code::FailedPrecondition,
            format!(
                "This is {} of generation {}.",
                own.sandbox_id, own.generation
            ),
        )
        .into());
    }
    let reply = Hello {
        version,
        sandbox_id: &own.sandbox_id,
        generation: own.generation,
        agent: env!("CARGO_PKG_VERSION"),
    };
    connection.reply(&reply).await
}

fn unsupported_version() -> Fault {
    Fault::new(
        Code::FailedPrecondition,
        format!("This agent speaks versions 1 to {PROTOCOL_VERSION}."),
    )
}
