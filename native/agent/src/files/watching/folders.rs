//! The watched folders of one stream, and where each lies below the top. The number of a watch outlives a rename.

use std::collections::{BTreeMap, HashMap};

type Name = Box<[u8]>;

pub struct Folders {
    top: i32,
    /// Most bytes of a path below the top.
    path_bytes: usize,
    /// Parent and name of each but the top.
    places: HashMap<i32, (i32, Name)>,
    children: BTreeMap<(i32, Name), i32>,
}

impl Folders {
    pub fn new(top: i32, path_bytes: usize) -> Self {
        Self {
            top,
            path_bytes,
            places: HashMap::new(),
            children: BTreeMap::new(),
        }
    }

    pub fn is_top(&self, watch: i32) -> bool {
        watch == self.top
    }

    pub fn contains(&self, watch: i32) -> bool {
        self.is_top(watch) || self.places.contains_key(&watch)
    }

    pub fn find(&self, parent: i32, name: &[u8]) -> Option<i32> {
        self.children.get(&(parent, name.into())).copied()
    }

    /// The path of an entry below the top. None where its folder is watched no more, and for a path that is too long.
    pub fn path(&self, folder: i32, name: &[u8]) -> Option<Vec<u8>> {
        let (mut names, mut bytes) = (vec![name], name.len());
        let mut at = folder;
        while at != self.top {
            let (parent, name) = self.places.get(&at)?;
            names.push(name);
            bytes += 1 + name.len();
            if bytes > self.path_bytes {
                return None;
            }
            at = *parent;
        }
        names.reverse();
        (bytes <= self.path_bytes).then(|| names.join(&b'/'))
    }

    /// Notes where a folder lies. A place within itself is that of another moment, and is not taken.
    pub fn put(&mut self, watch: i32, parent: i32, name: &[u8]) {
        if self.is_top(watch) || self.is_within(parent, watch) {
            return;
        }
        self.forget(watch);
        self.children.insert((parent, name.into()), watch);
        self.places.insert(watch, (parent, name.into()));
    }

    /// Returns true where it was known.
    pub fn forget(&mut self, watch: i32) -> bool {
        let Some(place) = self.places.remove(&watch) else {
            return false;
        };
        // Another folder may have taken its name.
        if self.children.get(&place) == Some(&watch) {
            self.children.remove(&place);
        }
        true
    }

    /// Forgets a folder with all below it, and returns them.
    pub fn forget_tree(&mut self, watch: i32) -> Vec<i32> {
        let mut tree = vec![watch];
        let mut at = 0;
        while let Some(&folder) = tree.get(at) {
            let below = (folder, Name::default())..(folder + 1, Name::default());
            tree.extend(self.children.range(below).map(|(_, child)| *child));
            at += 1;
        }
        for folder in &tree {
            self.forget(*folder);
        }
        tree
    }

    fn is_within(&self, folder: i32, other: i32) -> bool {
        let mut at = folder;
        while at != other {
            match self.places.get(&at) {
                Some((parent, _)) => at = *parent,
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The top 1 with a/b/c, whose watches are 2, 3 and 4.
    fn chain() -> Folders {
        let mut folders = Folders::new(1, 4_095);
        folders.put(2, 1, b"a");
        folders.put(3, 2, b"b");
        folders.put(4, 3, b"c");
        folders
    }

    fn path(folders: &Folders, folder: i32) -> Option<String> {
        let bytes = folders.path(folder, b"x")?;
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_rename_of_a_folder_renames_all_below_it() {
        let mut folders = chain();
        assert_eq!(path(&folders, 1).unwrap(), "x");
        assert_eq!(path(&folders, 4).unwrap(), "a/b/c/x");
        folders.put(3, 1, b"z");
        assert_eq!(path(&folders, 4).unwrap(), "z/c/x");
        assert_eq!(folders.find(2, b"b"), None);
        assert_eq!(folders.find(1, b"z"), Some(3));
    }

    #[test]
    fn a_folder_that_is_forgotten_takes_all_below_it_along() {
        let mut folders = chain();
        assert_eq!(folders.forget_tree(3), [3, 4]);
        assert_eq!(path(&folders, 4), None);
        assert_eq!(path(&folders, 2).unwrap(), "a/x");
    }

    #[test]
    fn a_folder_that_took_the_name_of_another_keeps_it() {
        let mut folders = chain();
        folders.put(5, 1, b"a");
        folders.forget(2);
        assert_eq!(folders.find(1, b"a"), Some(5));
        assert_eq!(path(&folders, 5).unwrap(), "a/x");
    }

    #[test]
    fn no_folder_lies_within_itself() {
        let mut folders = chain();
        folders.put(2, 4, b"a");
        folders.put(1, 4, b"top");
        assert_eq!(path(&folders, 4).unwrap(), "a/b/c/x");
    }

    #[test]
    fn a_path_that_is_too_long_is_none() {
        assert_eq!(path(&Folders::new(1, 0), 1), None);
        let mut folders = Folders::new(1, 4_095);
        for watch in 2..=17 {
            folders.put(watch, watch - 1, &[b'n'; 255]);
        }
        assert_eq!(path(&folders, 16).unwrap().len(), 15 * 256 + 1);
        assert_eq!(path(&folders, 17), None);
    }
}
