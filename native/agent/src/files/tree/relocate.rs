//! The operation `move`: moves an entry. One that cannot be renamed (another file system, or a folder of the
//! image) is copied beside its destination, renamed there at once, and only then deleted at its source.

use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::Deserialize;

use super::copy;
use super::remove::{refuse_sandbox_root, remove_tree};
use crate::files::location::{Location, Path};
use crate::files::writing::temporary::fresh_name;
use crate::init::context::Context;
use crate::init::workers::Cancelled;
use crate::wire::connection::{Connection, Outcome};
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    source: String,
    destination: String,
}

pub async fn answer(connection: &mut Connection, context: &Context, request: Request) -> Outcome {
    let source = Path::parse("source", &request.source, &context.base)?;
    let destination = Path::parse("destination", &request.destination, &context.base)?;
    let work = context
        .workers
        .long(move |cancelled| relocate(&source, &destination, cancelled));
    connection.unless_closed(work).await?;
    connection.reply(&serde_json::json!({})).await
}

fn relocate(source: &Path, destination: &Path, cancelled: &Cancelled) -> Result<(), Fault> {
    let from = source.locate()?;
    let stat = from.stat().map_err(|errno| source.fault(errno))?;
    refuse_sandbox_root(source, &stat)?;
    let to = destination.locate().map_err(|fault| match fault.code {
        Code::NotFound => Fault::not_found(
            Resource::Folder,
            format!(
                "The folder that '{}' should be in does not exist.",
                destination.text
            ),
        )
        .parameter(destination.parameter)
        .hint("Make it with Sandbox.CreateFolder."),
        _ => fault,
    })?;
    match rename(&from, &to) {
        Err(Errno::XDEV) => copy_then_delete(source, &from, destination, &to, cancelled),
        result => result.map_err(|errno| rename_fault(source, destination, errno)),
    }
}

fn copy_then_delete(
    source: &Path,
    from: &Location,
    destination: &Path,
    to: &Location,
    cancelled: &Cancelled,
) -> Result<(), Fault> {
    if to.stat().is_ok() {
        return Err(destination.fault(Errno::EXIST));
    }
    let temporary = Location {
        folder: to.folder.try_clone()?,
        name: fresh_name(),
    };
    let copied = copy::copy(source, from, &temporary, cancelled).and_then(|()| {
        rename(&temporary, to).map_err(|errno| rename_fault(source, destination, errno))
    });
    if let Err(fault) = copied {
        let _ = delete(destination, &temporary);
        return Err(fault);
    }
    delete(source, from)
}

fn rename(from: &Location, to: &Location) -> rustix::io::Result<()> {
    renameat_with(
        &from.folder,
        &from.name,
        &to.folder,
        &to.name,
        RenameFlags::NOREPLACE,
    )
}

/// Goes on though the call is cancelled: of two names one must go.
fn delete(path: &Path, location: &Location) -> Result<(), Fault> {
    use rustix::fs::{AtFlags, unlinkat};
    match unlinkat(&location.folder, &location.name, AtFlags::empty()) {
        Err(Errno::ISDIR) => remove_tree(path, location, &Cancelled::default()),
        result => result.map_err(|errno| path.fault(errno)),
    }
}

fn rename_fault(source: &Path, destination: &Path, errno: Errno) -> Fault {
    match errno {
        Errno::INVAL => Fault::invalid(
            destination.parameter,
            format!("'{}' cannot be moved into itself.", source.text),
        ),
        Errno::EXIST | Errno::NOTEMPTY => destination.fault(Errno::EXIST),
        Errno::NOTDIR | Errno::NAMETOOLONG => destination.fault(errno),
        errno => source.fault(errno),
    }
}
