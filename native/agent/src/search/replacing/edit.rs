//! Replaces the matches in one file at once: a reader sees all of the old content or all of the new.

use memchr::memmem::Finder;
use rustix::fs::Stat;
use std::fs::File;
use std::io::Read;

use super::template::Template;
use crate::files::location::{Location, Path};
use crate::files::writing::upload::Upload;
use crate::search::blocks;
use crate::search::budget::Budget;
use crate::search::expression::matcher::{Matcher, Scratch};
use crate::wire::fault::{Code, Fault};

const CHUNK_BYTES: usize = 256 << 10;
/// Replacements between two checks of the time.
const CHECK_EVERY: u64 = 1_024;

pub struct Edit<'a> {
    pub matcher: &'a Matcher,
    pub template: &'a Template,
    pub scratch: &'a mut Scratch,
    /// The pattern as plain text, where the expression may have another meaning.
    pub plain: Option<&'a Finder<'a>>,
    /// True for a dry run: nothing is written.
    pub dry_run: bool,
    /// Most bytes of the file, before and after.
    pub max_bytes: u64,
    pub budget: &'a Budget,
}

#[derive(Default)]
pub struct Edited {
    pub replacements: u64,
    /// Occurrences of the pattern's text, in a file without replacements.
    pub plain: u64,
}

impl Edit<'_> {
    /// A file without a match is not touched.
    pub fn apply(&mut self, path: &Path, location: Location, stat: Stat) -> Result<Edited, Fault> {
        let content = self.read(path, &location)?;
        let mut out = Out {
            upload: None,
            target: (!self.dry_run).then_some((path, location, stat)),
            chunk: Vec::new(),
            left: self.max_bytes,
        };
        let mut slots = vec![None; 2 * self.template.groups];
        let (mut copied, mut from, mut count) = (0, 0, 0u64);
        while let Some(found) = self
            .matcher
            .next_line(self.scratch, &content, from, self.budget)?
        {
            let line = &content[found.line.clone()];
            let mut matches = Matches::default();
            while matches.next(self, line, &mut slots)? {
                let (start, end) = (matches.start, matches.end);
                out.append(&content[copied..found.line.start + start])?;
                for piece in self.template.pieces(line, &slots) {
                    out.append(piece)?;
                }
                copied = found.line.start + end;
                count += 1;
                if count.is_multiple_of(CHECK_EVERY) {
                    self.budget.check()?;
                }
            }
            self.budget.check()?;
            from = found.line.end + 1;
        }
        if count > 0 {
            out.append(&content[copied..])?;
            out.finish()?;
        }
        let plain = self.plain.filter(|_| count == 0);
        Ok(Edited {
            replacements: count,
            plain: plain.map_or(0, |text| text.find_iter(&content).count() as u64),
        })
    }

    fn read(&self, path: &Path, location: &Location) -> Result<Vec<u8>, Fault> {
        let unreadable = || {
            Fault::new(
                Code::PermissionDenied,
                format!("'{}' cannot be read.", path.text),
            )
        };
        let too_large = || {
            Fault::new(
                Code::TooLarge,
                format!("'{}' is over {} bytes.", path.text, self.max_bytes),
            )
        };
        let (file, size) = blocks::open(&location.folder, &location.name).ok_or_else(unreadable)?;
        if size.is_some_and(|size| size > self.max_bytes) {
            return Err(too_large());
        }
        let mut content = Vec::new();
        let mut file = File::from(file).take(self.max_bytes + 1);
        loop {
            self.budget.check()?;
            let read = (&mut file)
                .take(CHUNK_BYTES as u64)
                .read_to_end(&mut content);
            let seen = content.len() - read.map_err(|_| unreadable())?;
            if memchr::memchr(0, &content[seen..]).is_some() {
                return Err(Fault::new(
                    Code::InvalidArgument,
                    format!("'{}' is binary: it has a NUL byte.", path.text),
                ));
            }
            if content.len() as u64 > self.max_bytes {
                return Err(too_large());
            }
            if content.len() == seen {
                return Ok(content);
            }
        }
    }
}

/// The matches of one line in order, as sed finds them: no empty match directly follows another match, nor
/// one before the line's last `\r`, where the line has ended once.
#[derive(Default)]
struct Matches {
    from: usize,
    start: usize,
    end: usize,
    any: bool,
}

impl Matches {
    fn next(
        &mut self,
        edit: &mut Edit<'_>,
        line: &[u8],
        slots: &mut [Option<usize>],
    ) -> Result<bool, Fault> {
        while self.from <= line.len() {
            if !edit
                .matcher
                .find(edit.scratch, line, self.from, slots, edit.budget)?
            {
                break;
            }
            let (start, end) = (slots[0].unwrap_or(0), slots[1].unwrap_or(0));
            let at_end_again = start == line.len() && line[self.end..] == *b"\r";
            let behind_another = self.any && start == end && (start == self.end || at_end_again);
            self.from = end;
            if start == end {
                self.from += crate::search::expression::backtrack::char_at(line, end)
                    .map_or(1, |(_, length)| length);
            }
            if !behind_another {
                (self.start, self.end, self.any) = (start, end, true);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Writes the new content into a file beside the old one, which is made at the first byte. Without a target
/// it only measures.
struct Out<'a> {
    upload: Option<Upload>,
    target: Option<(&'a Path, Location, Stat)>,
    chunk: Vec<u8>,
    left: u64,
}

impl Out<'_> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.left = self.left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            Fault::new(
                Code::TooLarge,
                "The file would become too large to be edited.",
            )
        })?;
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush_chunk()?;
        }
        Ok(())
    }

    fn flush_chunk(&mut self) -> Result<(), Fault> {
        if let Some((path, location, stat)) = self.target.take() {
            self.upload = Some(Upload::over(path.clone(), location, Some(stat))?);
        }
        if let Some(upload) = &mut self.upload {
            upload.append(&self.chunk)?;
        }
        self.chunk.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<(), Fault> {
        self.flush_chunk()?;
        if let Some(upload) = self.upload {
            upload.finish_unless_changed()?;
        }
        Ok(())
    }
}
