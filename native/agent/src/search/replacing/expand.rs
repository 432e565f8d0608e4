//! Expands paths and globs to the files that they name. Globs work as in a shell: part by part, `**` for any
//! number of folders, names with a leading dot only where the pattern has the dot, and never through a link.

use rustix::fs::{AtFlags, CWD, Dir, FileType, statat};
use std::collections::BTreeSet;
use std::os::fd::OwnedFd;

use super::exclude::Exclusions;
use crate::files::folder::{join, kind, open_below, open_top};
use crate::files::glob::Glob;
use crate::files::location::Path;
use crate::files::path_text;
use crate::init::base::Base;
use crate::search::budget::Budget;
use crate::wire::fault::{Code, Fault};
use crate::wire::resource::Resource;

const SPECIAL: [char; 4] = ['*', '?', '[', '{'];
const MAX_PATH_BYTES: usize = 4_095;
/// Most folders that are read for one glob, since the state of each takes memory.
const MAX_FOLDERS: usize = 200_000;

enum Part {
    /// `**`
    Folders,
    Names {
        glob: Glob,
        hidden: bool,
    },
}

/// Returns the files that one entry of the list names, as paths that the caller can use again. The inner
/// error concerns the entry, the outer one the whole call.
pub fn expand(
    text: &str,
    base: &Base,
    exclusions: &Exclusions,
    max_files: usize,
    budget: &Budget,
) -> Result<Result<Vec<String>, Fault>, Fault> {
    let path = match Path::parse("files", text, base) {
        Ok(path) => path,
        Err(fault) => return Ok(Err(fault)),
    };
    let is_there = statat(CWD, path.bytes.as_slice(), AtFlags::SYMLINK_NOFOLLOW).is_ok();
    if is_there || !text.contains(SPECIAL) {
        let named = [text.to_owned()].into_iter();
        return Ok(Ok(named.filter(|path| !exclusions.cover(path)).collect()));
    }
    let (top, parts) = match parse(text, base) {
        Ok(parsed) => parsed,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut expansion = Expansion {
        found: BTreeSet::new(),
        shown: top.shown_prefix(),
        exclusions,
        max_files,
        budget,
    };
    if let Ok(folder) = open_top(&top.bytes) {
        expansion.folder(&folder, &parts)?;
    }
    if expansion.found.is_empty() {
        return Ok(Err(Fault::not_found(
            Resource::File,
            format!("'{text}' matches no file{}.", exclusions.remark()),
        )));
    }
    Ok(Ok(expansion.found.into_iter().collect()))
}

/// The folder where the glob begins, and its parts below.
fn parse(text: &str, base: &Base) -> Result<(Path, Vec<Part>), Fault> {
    let (top, pattern) = split(text);
    let parts = pattern
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .map(part)
        .collect::<Result<_, _>>()?;
    Ok((Path::parse("files", top, base)?, parts))
}

/// The folders before the first part that is a pattern, and the pattern.
fn split(text: &str) -> (&str, &str) {
    let special = text.find([&SPECIAL[..], &['\\']].concat().as_slice());
    let slash = text[..special.unwrap_or(0)].rfind('/');
    match slash {
        Some(0) => ("/", &text[1..]),
        Some(slash) => (&text[..slash], &text[slash + 1..]),
        None => (".", text),
    }
}

fn part(text: &str) -> Result<Part, Fault> {
    if text == "**" {
        return Ok(Part::Folders);
    }
    let glob = Glob::new(text)
        .map_err(|reason| Fault::invalid("files", format!("'{text}' is not a glob: {reason}.")))?;
    let hidden = text.trim_start_matches('\\').starts_with('.');
    Ok(Part::Names { glob, hidden })
}

struct Expansion<'a> {
    found: BTreeSet<String>,
    /// The part of shown paths before the path below the top.
    shown: Vec<u8>,
    exclusions: &'a Exclusions,
    max_files: usize,
    budget: &'a Budget,
}

impl Expansion<'_> {
    /// Walks the folders below with the rest of the pattern. Each folder is read once for each state.
    fn folder(&mut self, top: &OwnedFd, parts: &[Part]) -> Result<(), Fault> {
        let mut pending = vec![(Vec::new(), 0usize)];
        let mut met = BTreeSet::new();
        while let Some((below, at)) = pending.pop() {
            self.budget.check()?;
            if !met.insert((below.clone(), at)) {
                continue;
            }
            if met.len() + pending.len() > MAX_FOLDERS {
                return Err(Fault::new(
                    Code::ResourceExhausted,
                    "There are too many folders to search.",
                )
                .hint("Begin the glob with the right folder."));
            }
            let (part, is_last) = match parts.get(at) {
                Some(part) => (part, at + 1 == parts.len()),
                None => continue,
            };
            if matches!(part, Part::Folders) && !is_last {
                pending.push((below.clone(), at + 1));
            }
            let Ok(entries) = open_below(top, &below).and_then(Dir::new) else {
                continue;
            };
            for entry in entries {
                let Ok(entry) = entry else { break };
                let name = entry.file_name().to_bytes();
                if !matches(part, name) || below.len() + name.len() >= MAX_PATH_BYTES {
                    continue;
                }
                let child = join(&below, name);
                if !self.exclusions.is_empty() && self.exclusions.cover(&self.shown(&child)) {
                    continue;
                }
                match kind(top, child.as_slice(), entry.file_type()) {
                    FileType::Directory => match part {
                        Part::Folders => pending.push((child, at)),
                        Part::Names { .. } if !is_last => pending.push((child, at + 1)),
                        Part::Names { .. } => {}
                    },
                    FileType::RegularFile if is_last => self.add(&child)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, child: &[u8]) -> Result<(), Fault> {
        if self.found.len() >= self.max_files {
            return Err(too_many(self.max_files));
        }
        self.found.insert(self.shown(child));
        Ok(())
    }

    fn shown(&self, child: &[u8]) -> String {
        path_text::to_text(&[&self.shown[..], child].concat())
    }
}

pub fn too_many(max_files: usize) -> Fault {
    Fault::new(
        Code::InvalidArgument,
        format!("'files' names more than {max_files} files; nothing was replaced."),
    )
    .parameter("files")
    .hint("Name fewer at once: narrower globs, one folder after another.")
}

fn matches(part: &Part, name: &[u8]) -> bool {
    if matches!(name, b"." | b"..") {
        return false;
    }
    match part {
        Part::Folders => !name.starts_with(b"."),
        Part::Names { glob, hidden } => {
            (*hidden || !name.starts_with(b".")) && glob.matches(&path_text::to_text(name))
        }
    }
}
