//! Reads packets, carries out their requests one by one, and answers in the same order.

use rustix::fs::StatVfs;
use std::io::{self, Read, Write};

use super::attributes::Attributes;
use super::bounds::{MAX_DATA_BYTES, MAX_HANDLES, MAX_PACKET_BYTES};
use super::failure::{Failure, Status};
use super::fields::{Fields, Malformed};
use super::folders::Folder;
use super::handles::{Handles, Open};
use super::long_name::LongNames;
use super::replies::{Name, Replies};
use super::request::{EXTENSIONS, INIT, Request};
use super::{files, paths};

const VERSION: u32 = 3;
const LENGTH_BYTES: usize = 4;
const INPUT_BYTES: usize = MAX_PACKET_BYTES + LENGTH_BYTES;
/// Answers are collected up to this size.
const FLUSH_BYTES: usize = 128 << 10;
const FOLDER_MODE: u32 = 0o777;

pub fn serve(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut server = Server::default();
    let mut buffer = vec![0; INPUT_BYTES];
    let mut filled = 0;
    loop {
        let read = input.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let mut at = 0;
        while let Some(packet) = first_packet(&buffer[at..filled])? {
            server.take(packet)?;
            at += LENGTH_BYTES + packet.len();
            if server.replies.0.len() >= FLUSH_BYTES {
                server.flush(&mut output)?;
            }
        }
        server.flush(&mut output)?;
        buffer.copy_within(at..filled, 0);
        filled -= at;
    }
}

/// Returns the first packet once it is complete.
fn first_packet(bytes: &[u8]) -> io::Result<Option<&[u8]>> {
    let Some((length, rest)) = bytes.split_first_chunk() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes(*length) as usize;
    if length == 0 || length > MAX_PACKET_BYTES {
        return Err(Malformed.into());
    }
    Ok(rest.get(..length))
}

#[derive(Default)]
struct Server {
    begun: bool,
    handles: Handles,
    long_names: LongNames,
    replies: Replies,
}

impl Server {
    /// Fails when the client does not speak the protocol.
    fn take(&mut self, packet: &[u8]) -> io::Result<()> {
        if let Some((&INIT, rest)) = packet.split_first() {
            Fields(rest).u32()?;
            self.begun = true;
            self.replies.version(VERSION, &EXTENSIONS);
            return Ok(());
        }
        if !self.begun {
            return Err(Malformed.into());
        }
        let (id, request) = Request::parse(packet)?;
        let result = match request {
            Ok(request) => self.answer(id, &request),
            Err(Malformed) => Err(Failure::new(Status::BadMessage, "Bad message")),
        };
        if let Err(failure) = result {
            self.replies.failed(id, &failure);
        }
        Ok(())
    }

    fn flush(&mut self, output: &mut impl Write) -> io::Result<()> {
        output.write_all(&self.replies.0)?;
        self.replies.0.clear();
        Ok(())
    }

    fn answer(&mut self, id: u32, request: &Request) -> Result<(), Failure> {
        match *request {
            Request::Open {
                path,
                flags,
                attributes,
            } => {
                self.handles.check_room()?;
                let file = files::open(path, flags, &attributes)?;
                let handle = self.handles.add(Open::File(file));
                self.replies.handle(id, &handle);
            }
            Request::OpenFolder { path } => {
                self.handles.check_room()?;
                let handle = self.handles.add(Open::Folder(Folder::open(path)?));
                self.replies.handle(id, &handle);
            }
            Request::Read {
                handle,
                offset,
                length,
            } => {
                let file = self.handles.file(handle)?;
                let length = (length as usize).min(MAX_DATA_BYTES);
                self.replies
                    .data(id, length, |buffer| files::read(file, buffer, offset))?;
            }
            Request::ReadFolder { handle } => {
                let names = self.handles.folder(handle)?.next(&mut self.long_names)?;
                self.replies.names(id, &names);
            }
            Request::RealPath { path, expand } => {
                let path = if expand {
                    paths::expand(path)?
                } else {
                    paths::real(path)?
                };
                self.name(id, path);
            }
            Request::ReadLink { path } => {
                let target = rustix::fs::readlink(path, Vec::new())?;
                self.name(id, target.into_bytes());
            }
            Request::Stat { .. }
            | Request::StatHandle { .. }
            | Request::FileSystem { .. }
            | Request::FileSystemOfHandle { .. }
            | Request::Limits => self.tell(id, request)?,
            _ => {
                self.change(request)?;
                self.replies.done(id);
            }
        }
        Ok(())
    }

    /// Answers requests for attributes and numbers.
    fn tell(&mut self, id: u32, request: &Request) -> Result<(), Failure> {
        match *request {
            Request::FileSystem { path } => self.file_system(id, &rustix::fs::statvfs(path)?),
            Request::FileSystemOfHandle { handle } => {
                let file_system = rustix::fs::fstatvfs(self.handles.file(handle)?)?;
                self.file_system(id, &file_system);
            }
            Request::Limits => self.replies.numbers(
                id,
                &[
                    MAX_PACKET_BYTES,
                    MAX_DATA_BYTES,
                    MAX_DATA_BYTES,
                    MAX_HANDLES,
                ]
                .map(|number| number as u64),
            ),
            _ => {
                let stat = match *request {
                    Request::Stat { path, follow: true } => rustix::fs::stat(path)?,
                    Request::Stat { path, .. } => rustix::fs::lstat(path)?,
                    Request::StatHandle { handle } => {
                        rustix::fs::fstat(self.handles.file(handle)?)?
                    }
                    _ => return Err(unsupported()),
                };
                self.replies.attributes(id, &Attributes::of(&stat));
            }
        }
        Ok(())
    }

    /// Carries out requests that are answered with a status alone.
    fn change(&mut self, request: &Request) -> Result<(), Failure> {
        match *request {
            Request::Close { handle } => self.handles.close(handle)?,
            Request::Write {
                handle,
                offset,
                data,
            } => files::write(self.handles.file(handle)?, data, offset)?,
            Request::Set {
                path,
                attributes,
                follow,
            } => files::set_path(path, &attributes, follow)?,
            Request::SetHandle { handle, attributes } => {
                files::set(self.handles.file(handle)?, &attributes)?;
            }
            Request::Sync { handle } => rustix::fs::fsync(self.handles.file(handle)?)?,
            Request::Remove { path } => rustix::fs::unlink(path)?,
            Request::MakeFolder { path, attributes } => {
                rustix::fs::mkdir(path, files::mode(&attributes, FOLDER_MODE))?;
            }
            Request::RemoveFolder { path } => rustix::fs::rmdir(path)?,
            Request::Rename { from, to, replace } => paths::rename(from, to, replace)?,
            Request::SymbolicLink { target, path } => rustix::fs::symlink(target, path)?,
            Request::HardLink { from, to } => rustix::fs::link(from, to)?,
            _ => return Err(unsupported()),
        }
        Ok(())
    }

    fn name(&mut self, id: u32, path: Vec<u8>) {
        let name = Name {
            long: path.clone(),
            bytes: path,
            attributes: Attributes::default(),
        };
        self.replies.names(id, &[name]);
    }

    fn file_system(&mut self, id: u32, is: &StatVfs) {
        self.replies.numbers(
            id,
            &[
                is.f_bsize,
                is.f_frsize,
                is.f_blocks,
                is.f_bfree,
                is.f_bavail,
                is.f_files,
                is.f_ffree,
                is.f_favail,
                is.f_fsid,
                is.f_flag.bits() & 3,
                is.f_namemax,
            ],
        );
    }
}

fn unsupported() -> Failure {
    Failure::new(Status::Unsupported, "Operation unsupported")
}
