//! The operations `context_interrupt` and `context_delete`.

use super::kernel::ENDED;
use super::registry::Registry;
use crate::wire::connection::{Connection, Outcome};

/// Interrupts the code that runs in a context, as Ctrl-C does. The context goes on.
pub mod interrupt {
    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Request {
        pub v: u32,
        context_id: String,
    }

    pub async fn answer(
        connection: &mut Connection,
        contexts: &Registry,
        request: Request,
    ) -> Outcome {
        let kernel = contexts.find(&request.context_id)?;
        let busy = kernel.busy();
        kernel.interrupt();
        connection.reply(&serde_json::json!({ "busy": busy })).await
    }
}

/// Kills the interpreter with all that it has started, and forgets the context.
pub mod delete {
    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Request {
        pub v: u32,
        context_id: String,
    }

    pub async fn answer(
        connection: &mut Connection,
        contexts: &Registry,
        request: Request,
    ) -> Outcome {
        let kernel = contexts.find(&request.context_id)?;
        kernel.kill(ENDED);
        let ended = async {
            kernel.ended().await;
            Ok(())
        };
        connection.unless_closed(ended).await?;
        contexts.remove(&kernel);
        connection.reply(&serde_json::json!({})).await
    }
}
