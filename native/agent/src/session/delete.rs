//! The operation `session_delete`: kills all that a session has started and forgets its logs.

use serde::Deserialize;

use super::registry::Registry;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    session_id: String,
}

/// Answers when the processes have ended. Repeated after a host that hung up, it goes on.
pub async fn answer(connection: &mut Connection, sessions: &Registry, request: Request) -> Outcome {
    let session = sessions.find(&request.session_id)?;
    session.kill();
    let ended = async {
        session.ended().await;
        Ok(())
    };
    connection.unless_closed(ended).await?;
    sessions.remove(&session);
    connection.reply(&serde_json::json!({})).await
}
