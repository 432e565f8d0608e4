//! Reads the entries of a tar archive in order, each with all the headers before its data.

use crate::budget::Budget;
use crate::failure::{Failure, too_large, unusable};
use crate::header::{BLOCK, Header, text};
use crate::layer::Source;
use crate::pax::{self, Pax};
use crate::sparse::{self, Map};

pub enum Kind {
    File,
    /// A hard link to another name in the image.
    Link(Vec<u8>),
    Symlink(Vec<u8>),
    Folder,
    Fifo,
    Device,
}

pub struct Entry {
    /// The path as in the archive.
    pub path: Vec<u8>,
    pub kind: Kind,
    pub mode: u32,
    pub uid: u64,
    pub gid: u64,
    pub mtime: (i64, u32),
    pub xattrs: Vec<(Vec<u8>, Vec<u8>)>,
    /// Size of a file with its holes.
    pub size: u64,
    /// Offsets of the data; None for a file without holes.
    pub parts: Option<Map>,
}

/// Most bytes of long names and extended headers, which are read into memory.
const META_BYTES: u64 = 1024 * 1024;

pub struct Archive<S> {
    source: S,
    /// Remaining bytes of the current entry's data, and of the padding of its last block.
    data: u64,
    padding: u64,
}

#[derive(Default)]
struct Said {
    pax: Pax,
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

impl<S: Source> Archive<S> {
    pub fn new(source: S) -> Archive<S> {
        Archive {
            source,
            data: 0,
            padding: 0,
        }
    }

    pub fn into_source(self) -> S {
        self.source
    }

    pub fn budget(&mut self) -> &mut Budget {
        self.source.budget()
    }

    /// None at the end, which is a block of zeros or the end of the bytes.
    pub fn next(&mut self) -> Result<Option<Entry>, Failure> {
        let mut said = Said::default();
        loop {
            self.skip()?;
            let Some(block) = self.block()? else {
                return Ok(None);
            };
            let header = Header(block);
            if header.is_zero() {
                return Ok(None);
            }
            header.check()?;
            match header.kind() {
                b'x' => said.pax = pax::parse(&self.meta(&header)?)?,
                // A header for all entries is of no use for a layer.
                b'g' => drop(self.meta(&header)?),
                b'L' => said.name = Some(text(&self.meta(&header)?).to_vec()),
                b'K' => said.link = Some(text(&self.meta(&header)?).to_vec()),
                _ => return self.entry(&header, said).map(Some),
            }
        }
    }

    /// The current entry's data; 0 at its end.
    pub fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        let most = self.data.min(buffer.len() as u64) as usize;
        if most == 0 {
            return Ok(0);
        }
        let count = self.source.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(cut_off());
        }
        self.data -= count as u64;
        Ok(count)
    }

    fn entry(&mut self, header: &Header, said: Said) -> Result<Entry, Failure> {
        let Said {
            mut pax,
            name,
            link,
        } = said;
        let mut path = pax.path.take().or(name).unwrap_or_else(|| header.name());
        let link = pax.link.take().or(link).unwrap_or_else(|| header.link());
        let held = pax.size.map_or_else(|| header.size(), Ok)?;
        let kind = match header.kind() {
            // Old archives mark a folder by a slash at its end.
            0 | b'0' | b'7' if path.ends_with(b"/") => Kind::Folder,
            0 | b'0' | b'7' | b'S' => Kind::File,
            b'1' => Kind::Link(link),
            b'2' => Kind::Symlink(link),
            b'3' | b'4' => Kind::Device,
            b'5' => Kind::Folder,
            b'6' => Kind::Fifo,
            other => {
                let other = other.escape_ascii();
                return Err(unusable(format!(
                    "a layer holds an entry of the unknown kind '{other}'"
                )));
            }
        };
        let (mut size, mut parts) = (0, None);
        if matches!(kind, Kind::File) {
            self.set_data(held)?;
            parts = self.holes(header, &mut path, &pax)?;
            size = parts.as_ref().map_or(held, |map| map.size);
        }
        Ok(Entry {
            path,
            kind,
            mode: header.mode()?,
            uid: pax.uid.map_or_else(|| header.uid(), Ok)?,
            gid: pax.gid.map_or_else(|| header.gid(), Ok)?,
            mtime: pax
                .mtime
                .map_or_else(|| header.seconds().map(|at| (at, 0)), Ok)?,
            xattrs: pax.xattrs,
            size,
            parts,
        })
    }

    fn holes(
        &mut self,
        header: &Header,
        path: &mut Vec<u8>,
        pax: &Pax,
    ) -> Result<Option<Map>, Failure> {
        let map = if header.kind() == b'S' {
            let size = crate::header::size(crate::header::number(&header.0[483..495])?)?;
            let mut map = Map::new(Vec::new(), size);
            let held = self.data;
            let mut more = sparse::old_entries(&mut map, &header.0, true)?;
            while more {
                let block = self.block()?.ok_or_else(cut_off)?;
                more = sparse::old_entries(&mut map, &block, false)?;
            }
            self.set_data(held)?;
            map
        } else {
            let Some(described) = sparse::described(&pax.sparse)? else {
                return Ok(None);
            };
            let mut map = described.map;
            if let Some(name) = described.name {
                *path = name;
            }
            if described.map_in_data {
                sparse::read_lines(&mut map, || {
                    let mut block = [0; BLOCK];
                    self.fill(&mut block)?;
                    Ok(block)
                })?;
            }
            map
        };
        map.check(self.data)?;
        Ok(Some(map))
    }

    fn set_data(&mut self, bytes: u64) -> Result<(), Failure> {
        self.data = bytes;
        self.padding = bytes.next_multiple_of(BLOCK as u64) - bytes;
        Ok(())
    }

    fn meta(&mut self, header: &Header) -> Result<Vec<u8>, Failure> {
        let size = header.size()?;
        if size > META_BYTES {
            return Err(too_large(format!(
                "an entry that is described by over {META_BYTES} bytes"
            )));
        }
        self.set_data(size)?;
        let mut content = vec![0; size as usize];
        self.fill(&mut content)?;
        Ok(content)
    }

    fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Failure> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..])? {
                0 => {
                    return Err(unusable(
                        "a layer is damaged: an entry is shorter than its header states",
                    ));
                }
                count => filled += count,
            }
        }
        Ok(())
    }

    fn skip(&mut self) -> Result<(), Failure> {
        let mut buffer = [0; 16 * 1024];
        while self.read(&mut buffer)? > 0 {}
        while self.padding > 0 {
            let most = self.padding.min(buffer.len() as u64) as usize;
            match self.source.read(&mut buffer[..most])? {
                0 => return Err(cut_off()),
                count => self.padding -= count as u64,
            }
        }
        Ok(())
    }

    /// None when the bytes end before it begins.
    fn block(&mut self) -> Result<Option<[u8; BLOCK]>, Failure> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.source.read(&mut block[filled..])? {
                0 if filled == 0 => return Ok(None),
                0 => return Err(cut_off()),
                count => filled += count,
            }
        }
        Ok(Some(block))
    }
}

fn cut_off() -> Failure {
    unusable("a layer is damaged: it ends too early")
}
