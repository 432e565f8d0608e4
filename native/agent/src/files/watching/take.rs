//! The events of the kernel as changes: in their order, renames as one, and with the folders where they are now.

use rustix::fs::inotify::ReadFlags;
use rustix::fs::{AtFlags, statat};
use std::collections::HashMap;
use std::time::Duration;

use super::changes::Kind;
use super::kernel::Event;
use super::watcher::{Next, Piece, Watcher};
use crate::wire::fault::Fault;

/// Between the two events of a rename.
const RENAME: Duration = Duration::from_millis(2);

impl Watcher {
    /// Reports the next events.
    pub fn take(&mut self) -> Result<Piece, Fault> {
        let mut events = Vec::new();
        self.drained = self.kernel.read(&mut events, &self.path)?;
        let last = events.last();
        if last.is_some_and(|event| event.is(ReadFlags::MOVED_FROM)) {
            std::thread::sleep(RENAME);
            self.drained = self.kernel.read(&mut events, &self.path)?;
        }
        let arrived = |(at, event): (usize, &Event)| {
            event.is(ReadFlags::MOVED_TO).then_some((event.cookie, at))
        };
        let mut arrivals: HashMap<u32, usize> =
            events.iter().enumerate().filter_map(arrived).collect();
        for event in &events {
            if event.is(ReadFlags::QUEUE_OVERFLOW) {
                return Ok(self.piece(Next::Overflowed));
            }
            if event.is_end() && self.folders.is_top(event.watch) {
                return Ok(self.piece(Next::Gone));
            }
            if event.is_end() {
                if self.folders.forget(event.watch) {
                    self.share.free(1);
                }
            } else if event.is(ReadFlags::MOVED_FROM) {
                let arrival = arrivals.remove(&event.cookie);
                self.moved(event, arrival.and_then(|at| events.get(at)));
            } else if !event.is(ReadFlags::MOVED_TO) {
                self.changed(event);
            } else if arrivals.remove(&event.cookie).is_some() {
                self.came(event);
            }
        }
        if self.drained {
            self.changes.forget();
        }
        Ok(self.piece(self.next()))
    }

    fn changed(&mut self, event: &Event) {
        let kind = if event.is(ReadFlags::CREATE) {
            return self.came(event);
        } else if event.is(ReadFlags::DELETE) {
            Kind::Removed
        } else if event.is(ReadFlags::ATTRIB) {
            Kind::Attributes
        } else {
            Kind::Written
        };
        if let Some(path) = self.path_of(event)
            && (kind != Kind::Attributes || !is_like_unnamed(&event.name) || self.is_there(&path))
        {
            self.changes.add(kind, path, event.is_folder());
        }
        // Another folder of this name was found before its event came: it is to be reported after this one.
        if kind == Kind::Removed
            && event.is_folder()
            && let Some(other) = self.folders.find(event.watch, &event.name)
        {
            self.leave(other);
        }
    }

    fn came(&mut self, event: &Event) {
        if let Some(path) = self.path_of(event) {
            self.changes.add(Kind::Created, path, event.is_folder());
        }
        if event.is_folder() {
            self.found(event.watch, &event.name, true);
        }
    }

    /// @param arrival Where it is now; None outside of what is watched.
    fn moved(&mut self, event: &Event, arrival: Option<&Event>) {
        let is_folder = event.is_folder();
        let moved = self.folders.find(event.watch, &event.name);
        // It may have been found under its new name, and reported so.
        let is_found = |at: &Event| self.folders.find(at.watch, &at.name).is_some();
        let to = arrival.filter(|at| !(is_folder && moved.is_none() && is_found(at)));
        match (self.path_of(event), to.and_then(|at| self.path_of(at))) {
            (Some(from), Some(to)) => self.changes.rename(from, to, is_folder),
            (Some(from), None) => self.changes.add(Kind::Removed, from, is_folder),
            (None, Some(to)) => self.changes.add(Kind::Created, to, is_folder),
            (None, None) => {}
        }
        if !is_folder {
            return;
        }
        match (moved, arrival) {
            (Some(moved), Some(at)) if self.folders.contains(at.watch) => {
                self.folders.put(moved, at.watch, &at.name);
            }
            (Some(moved), _) => self.leave(moved),
            (None, _) => {}
        }
        // Either name may be another folder's by now.
        for place in [Some(event), arrival].into_iter().flatten() {
            self.found(place.watch, &place.name, true);
        }
    }

    fn leave(&mut self, folder: i32) {
        let tree = self.folders.forget_tree(folder);
        for watch in &tree {
            self.kernel.unwatch(*watch);
        }
        self.share.free(tree.len());
    }

    fn is_there(&self, path: &[u8]) -> bool {
        let top = self.top().ok().flatten();
        top.is_some_and(|top| statat(top, path, AtFlags::SYMLINK_NOFOLLOW).is_ok())
    }

    fn path_of(&self, event: &Event) -> Option<Vec<u8>> {
        match event.name.is_empty() {
            true => None,
            false => self.folders.path(event.watch, &event.name),
        }
    }
}

/// The kernel gives a file that has no name yet, as one that is being written, the name of its number.
fn is_like_unnamed(name: &[u8]) -> bool {
    let number = name.strip_prefix(b"#");
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::is_like_unnamed;

    #[test]
    fn a_file_without_a_name_is_called_by_its_number() {
        for (name, expected) in [("#28", true), ("#", false), ("#a", false), ("28", false)] {
            assert_eq!(is_like_unnamed(name.as_bytes()), expected, "{name}");
        }
    }
}
