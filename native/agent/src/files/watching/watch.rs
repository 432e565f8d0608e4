//! The operation `watch_files`: one stream's connection, which gets changes below a folder until that is gone, or until the
//! host hangs up. What a host does not read waits in the kernel, which drops events past its bound and says so.

use serde::Deserialize;
use serde_json::json;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::time::sleep;

use super::changes::Change;
use super::seats::{Seat, Seats};
use super::watcher::{Next, Piece, Watcher};
use crate::files::location::Path;
use crate::init::context::Context;
use crate::init::readiness::readable;
use crate::init::workers::{Cancelled, Workers};
use crate::wire::connection::{Connection, Interrupted, Outcome};
use crate::wire::fault::Fault;

/// After the first change others are gathered for so long.
const GATHERING: Duration = Duration::from_millis(50);
/// An item is sent once it is as large.
const ITEM_BYTES: usize = 64 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub v: u32,
    pub user: Option<String>,
    path: String,
    recursive: bool,
}

/// Closes on a worker: the kernel waits as it ends many watches.
struct Held {
    watcher: Option<Watcher>,
    workers: Rc<Workers>,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(mut watcher) = self.watcher.take() {
            // The next one may need its folders at once.
            watcher.free();
            self.workers.later(move || drop(watcher));
        }
    }
}

pub async fn answer(
    connection: &mut Connection,
    context: &Context,
    watches: &Rc<Seats>,
    request: Request,
) -> Outcome {
    let path = Path::parse("path", &request.path, &context.base)?;
    let seat = Seat::take(watches)?;
    let mut has_begun = false;
    loop {
        let (path, recursive, all) = (path.clone(), request.recursive, seat.folders());
        let work = context
            .workers
            .short(move || Watcher::begin(path, recursive, all));
        let mut held = Held {
            watcher: Some(connection.unless_closed(work).await?),
            workers: Rc::clone(&context.workers),
        };
        let events = readable(held.watcher()?.events()?)?;
        let mut next = held.watcher()?.next();
        while next == Next::Walk {
            next = held.walk(connection).await?.next;
        }
        if !has_begun {
            connection.reply(&json!({})).await?;
        } else if next != Next::Gone {
            connection.item(&[Change::overflow()], &[]).await?;
        }
        has_begun = true;
        if next == Next::Gone || !held.follow(connection, &events).await? {
            return connection.send_end().await;
        }
    }
}

impl Held {
    fn watcher(&self) -> Result<&Watcher, Interrupted> {
        self.watcher.as_ref().ok_or(Interrupted::Gone)
    }

    /// Sends changes. True once the kernel has dropped some, so that the folders have to be found anew; false at the end.
    async fn follow(
        &mut self,
        connection: &mut Connection,
        events: &AsyncFd<OwnedFd>,
    ) -> Result<bool, Interrupted> {
        let mut next = Next::Wait;
        loop {
            let piece = match next {
                Next::Walk => self.walk(connection).await?,
                Next::Gone => return Ok(false),
                Next::Overflowed => return Ok(true),
                Next::Take | Next::Wait => {
                    if next == Next::Wait {
                        connection.unless_closed(gathered(events)).await?;
                    }
                    self.take(connection).await?
                }
            };
            send(connection, &piece.changes).await?;
            next = piece.next;
        }
    }

    async fn walk(&mut self, connection: &mut Connection) -> Result<Piece, Interrupted> {
        let mut watcher = self.watcher.take().ok_or(Interrupted::Gone)?;
        let work = self.workers.long(move |cancelled: &Cancelled| {
            let piece = watcher.walk(cancelled)?;
            Ok((watcher, piece))
        });
        let (watcher, piece) = connection.unless_closed(work).await?;
        self.watcher = Some(watcher);
        Ok(piece)
    }

    async fn take(&mut self, connection: &mut Connection) -> Result<Piece, Interrupted> {
        let mut watcher = self.watcher.take().ok_or(Interrupted::Gone)?;
        let work = self.workers.short(move || {
            let piece = watcher.take()?;
            Ok((watcher, piece))
        });
        let (watcher, piece) = connection.unless_closed(work).await?;
        self.watcher = Some(watcher);
        Ok(piece)
    }
}

async fn gathered(events: &AsyncFd<OwnedFd>) -> Result<(), Fault> {
    events.readable().await?.clear_ready();
    sleep(GATHERING).await;
    Ok(())
}

async fn send(connection: &mut Connection, changes: &[Change]) -> Outcome {
    let mut bytes = 0;
    let mut begin = 0;
    for (at, change) in changes.iter().enumerate() {
        bytes += serde_json::to_vec(change).map_or(0, |json| json.len());
        if bytes >= ITEM_BYTES || at + 1 == changes.len() {
            connection.item(&&changes[begin..=at], &[]).await?;
            begin = at + 1;
            bytes = 0;
        }
    }
    Ok(())
}
