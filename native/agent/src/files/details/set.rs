//! The operation `set_attributes`: changes the mode, the owners and the metadata of a file or folder. A final link is
//! followed.

use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Uid, chmod, chownat};
use serde::Deserialize;
use std::os::fd::AsRawFd;

use super::metadata::{self, Metadata};
use crate::files::location::Path;
use crate::files::reach;
use crate::init::context::Context;
use crate::users::database;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::Fault;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    mode: Option<u32>,
    /// A name or a number, as for the group.
    owner: Option<String>,
    group: Option<String>,
    /// All of it, in place of what the file has.
    metadata: Option<Metadata>,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    if request.mode.is_some_and(|mode| mode > 0o7777) {
        return Err(Fault::invalid("mode", "A mode is at most 07777.").into());
    }
    if let Some(metadata) = &request.metadata {
        metadata::check(metadata)?;
    }
    context.workers.short(move || set(&path, &request)).await?;
    connection.reply(&serde_json::json!({})).await
}

/// The owners come first: a change of them takes the bits of a mode that give rights away.
fn set(path: &Path, request: &Request) -> Result<(), Fault> {
    let failed = |errno| path.fault(errno);
    let users = database::read(database::USERS).unwrap_or_default();
    let groups = database::read(database::GROUPS).unwrap_or_default();
    let owner = number("owner", request.owner.as_deref(), &users)?;
    let group = number("group", request.group.as_deref(), &groups)?;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let place = reach::open(CWD, path.bytes.as_slice(), flags, Mode::empty()).map_err(failed)?;
    if owner.is_some() || group.is_some() {
        let (owner, group) = (owner.map(Uid::from_raw), group.map(Gid::from_raw));
        chownat(&place, "", owner, group, AtFlags::EMPTY_PATH).map_err(failed)?;
    }
    if let Some(mode) = request.mode {
        let itself = format!("/proc/self/fd/{}", place.as_raw_fd());
        chmod(itself, Mode::from_raw_mode(mode)).map_err(failed)?;
    }
    match &request.metadata {
        Some(metadata) => metadata::replace(&place, metadata).map_err(failed),
        None => Ok(()),
    }
}

/// @param database Lines of users or groups.
fn number(
    parameter: &'static str,
    given: Option<&str>,
    database: &str,
) -> Result<Option<u32>, Fault> {
    let Some(given) = given else { return Ok(None) };
    let number = given.parse().ok();
    let number = number.or_else(|| database::number_of(database, given));
    match number {
        Some(_) => Ok(number),
        None => Err(Fault::invalid(
            parameter,
            format!("The sandbox has no {parameter} '{given}'."),
        )),
    }
}
