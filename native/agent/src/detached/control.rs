//! The operations `process_signal`, `process_resize` and `process_end`.

use super::registry::Registry;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};

/// Sends a signal to the group that the process leads, or to the one in the foreground of its terminal.
pub mod signal {
    use super::*;
    use crate::process::signals;

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Request {
        pub v: u32,
        process: String,
        signal: String,
    }

    pub async fn answer(
        connection: &mut Connection,
        processes: &Registry,
        request: Request,
    ) -> Outcome {
        let number = signals::number(&request.signal).ok_or_else(|| {
            let detail = format!("There is no signal '{}'.", request.signal);
            Fault::invalid("signal", detail).hint("Name one as kill does: TERM, INT, HUP, KILL …")
        })?;
        processes.find(&request.process)?.running()?.signal(number);
        connection.reply(&serde_json::json!({})).await
    }
}

/// Changes the size of its terminal.
pub mod resize {
    use super::*;
    use crate::exec::terminal::Size;

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Request {
        pub v: u32,
        process: String,
        size: Size,
    }

    pub async fn answer(
        connection: &mut Connection,
        processes: &Registry,
        request: Request,
    ) -> Outcome {
        let process = processes.find(&request.process)?;
        let screen = process.running()?.terminal.as_ref().ok_or_else(|| {
            Fault::new(Code::FailedPrecondition, "The process has no terminal.")
                .hint("Start it with columns and rows.")
        })?;
        screen.resize(request.size)?;
        connection.reply(&serde_json::json!({})).await
    }
}

/// Kills the whole tree, and forgets the process once it has ended.
pub mod end {
    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    pub struct Request {
        pub v: u32,
        process: String,
    }

    pub async fn answer(
        connection: &mut Connection,
        processes: &Registry,
        request: Request,
    ) -> Outcome {
        let process = processes.find(&request.process)?;
        process.ending.notify_one();
        let ended = async {
            process.ended().await;
            Ok(())
        };
        connection.unless_closed(ended).await?;
        processes.remove(&process);
        connection.reply(&serde_json::json!({})).await
    }
}
