//! Made by `make generate` from src/model/errors.ts. Do not edit.

use serde::Serialize;

/// The kind of thing that a fault is about; the host decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    Command,
    Connection,
    Context,
    File,
    Folder,
    Host,
    Interpreter,
    Port,
    Process,
    Session,
    Terminal,
}
