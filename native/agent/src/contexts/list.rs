//! The operation `context_list`: the contexts, those included that have ended by themselves.

use serde::{Deserialize, Serialize};

use super::program::Language;
use super::registry::Registry;
use crate::wire::connection::{Connection, Outcome};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
}

#[derive(Serialize)]
struct Summary<'a> {
    context_id: &'a str,
    language: Language,
    user: Option<&'a str>,
    cwd: &'a str,
    memory_mb: Option<u64>,
    created_ms: u64,
    runs: u64,
    busy: bool,
    end: Option<String>,
}

pub async fn answer(
    connection: &mut Connection,
    contexts: &Registry,
    _request: Request,
) -> Outcome {
    for kernel in contexts.all() {
        let about = &kernel.about;
        let summary = Summary {
            context_id: &about.id,
            language: about.language,
            user: about.user.as_deref(),
            cwd: &about.cwd,
            memory_mb: about.memory_mb,
            created_ms: kernel.created_ms,
            runs: kernel.runs.get(),
            busy: kernel.busy(),
            end: kernel.end(),
        };
        connection.item(&summary, &[]).await?;
    }
    connection.reply(&serde_json::json!({})).await
}
