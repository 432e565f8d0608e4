//! Changes that wait to be sent: each kind of change of a path once, however often it came.

use serde::Serialize;
use std::collections::HashMap;

use crate::files::path_text;

/// Most memory of the paths of which the changes are remembered.
const KNOWN_BYTES: usize = 2 << 20;
/// Memory of one beside its bytes.
const ENTRY_BYTES: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Created = 1,
    Removed = 2,
    Written = 4,
    Attributes = 8,
    Renamed = 16,
    /// Something was missed.
    Overflow = 32,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    #[serde(rename = "type")]
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The path before a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// True for a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<bool>,
}

impl Change {
    pub fn overflow() -> Self {
        Self {
            kind: Kind::Overflow,
            path: None,
            from: None,
            folder: None,
        }
    }
}

pub struct Changes {
    /// Shown paths begin so.
    prefix: Vec<u8>,
    list: Vec<Change>,
    /// The kinds of change of each path since it came, went or was renamed.
    known: HashMap<Vec<u8>, u8>,
    known_bytes: usize,
}

impl Changes {
    pub fn new(prefix: Vec<u8>) -> Self {
        Self {
            prefix,
            list: Vec::new(),
            known: HashMap::new(),
            known_bytes: 0,
        }
    }

    pub fn add(&mut self, kind: Kind, path: Vec<u8>, folder: bool) {
        if self.is_full() {
            self.forget();
        }
        let shown = self.shown(&path);
        let known = self.known(path);
        if *known & kind as u8 != 0 {
            return;
        }
        *known = match kind {
            Kind::Created | Kind::Removed => kind as u8,
            _ => *known | kind as u8,
        };
        // The same paths below it may soon be those of other files.
        if kind == Kind::Removed && folder {
            self.forget();
        }
        self.push(kind, shown, None, folder);
    }

    pub fn rename(&mut self, from: Vec<u8>, to: Vec<u8>, folder: bool) {
        let (shown_from, shown_to) = (self.shown(&from), self.shown(&to));
        if folder || self.is_full() {
            self.forget();
        }
        *self.known(from) = Kind::Removed as u8;
        *self.known(to) = Kind::Created as u8;
        self.push(Kind::Renamed, shown_to, Some(shown_from), folder);
    }

    pub fn is_full(&self) -> bool {
        self.known_bytes >= KNOWN_BYTES
    }

    /// From here on the same change of a path counts anew.
    pub fn forget(&mut self) {
        self.known = HashMap::new();
        self.known_bytes = 0;
    }

    pub fn take(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.list)
    }

    fn known(&mut self, path: Vec<u8>) -> &mut u8 {
        let bytes = ENTRY_BYTES + path.len();
        self.known.entry(path).or_insert_with(|| {
            self.known_bytes += bytes;
            0
        })
    }

    fn shown(&self, path: &[u8]) -> String {
        path_text::to_text(&[&self.prefix, path].concat())
    }

    fn push(&mut self, kind: Kind, path: String, from: Option<String>, folder: bool) {
        self.list.push(Change {
            kind,
            path: Some(path),
            from,
            folder: Some(folder),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Attributes, Created, Removed, Written};

    fn taken(changes: &mut Changes) -> Vec<(Kind, String)> {
        let list = changes.take();
        let named = |change: Change| (change.kind, change.path.unwrap());
        list.into_iter().map(named).collect()
    }

    fn changes_of(path: &str, kinds: &[Kind]) -> Vec<Kind> {
        let mut changes = Changes::new(Vec::new());
        for kind in kinds {
            changes.add(*kind, path.into(), false);
        }
        let taken = taken(&mut changes);
        taken.into_iter().map(|(kind, _)| kind).collect()
    }

    #[test]
    fn the_same_change_of_a_path_comes_once() {
        let all = [Created, Written, Attributes, Written, Attributes, Created];
        assert_eq!(changes_of("a", &all), [Created, Written, Attributes]);
    }

    #[test]
    fn a_file_that_goes_and_comes_again_is_another_one() {
        let all = [
            Created, Written, Removed, Removed, Created, Written, Removed,
        ];
        assert_eq!(
            changes_of("a", &all),
            [Created, Written, Removed, Created, Written, Removed]
        );
    }

    #[test]
    fn a_rename_leaves_room_for_new_files_of_both_names() {
        let mut changes = Changes::new(b"top/".to_vec());
        changes.add(Written, b"a".to_vec(), false);
        changes.rename(b"a".to_vec(), b"b".to_vec(), false);
        changes.add(Created, b"b".to_vec(), false);
        changes.add(Created, b"a".to_vec(), false);
        changes.add(Written, b"b".to_vec(), false);
        let shown = |path: &str| path.to_owned();
        assert_eq!(
            taken(&mut changes),
            [
                (Written, shown("top/a")),
                (Kind::Renamed, shown("top/b")),
                (Created, shown("top/a")),
                (Written, shown("top/b")),
            ]
        );
    }

    #[test]
    fn files_of_a_folder_that_was_renamed_or_removed_count_anew() {
        for removed in [false, true] {
            let mut changes = Changes::new(Vec::new());
            changes.add(Created, b"a/x".to_vec(), false);
            match removed {
                true => changes.add(Removed, b"a".to_vec(), true),
                false => changes.rename(b"a".to_vec(), b"b".to_vec(), true),
            }
            changes.add(Created, b"a/x".to_vec(), false);
            assert_eq!(changes.take().len(), 3);
        }
    }

    #[test]
    fn an_overflow_names_no_path() {
        let json = serde_json::to_string(&Change::overflow()).unwrap();
        assert_eq!(json, r#"{"type":"overflow"}"#);
    }
}
