//! Answers, collected until no request is left to be served at once: many go out in one write.

use super::attributes::Attributes;
use super::failure::{Failure, Status};

const VERSION: u8 = 2;
const STATUS: u8 = 101;
const HANDLE: u8 = 102;
const DATA: u8 = 103;
const NAME: u8 = 104;
const ATTRIBUTES: u8 = 105;
const EXTENDED: u8 = 201;

/// An entry of a folder, or a path.
pub struct Name {
    pub bytes: Vec<u8>,
    pub long: Vec<u8>,
    pub attributes: Attributes,
}

#[derive(Default)]
pub struct Replies(pub Vec<u8>);

impl Replies {
    pub fn version(&mut self, version: u32, extensions: &[(&str, &str)]) {
        self.packet(VERSION, |out| {
            out.extend(version.to_be_bytes());
            for (name, value) in extensions {
                string(out, name.as_bytes());
                string(out, value.as_bytes());
            }
        });
    }

    pub fn done(&mut self, id: u32) {
        self.failed(id, &Failure::new(Status::Ok, "Success"));
    }

    pub fn failed(&mut self, id: u32, failure: &Failure) {
        self.answer(STATUS, id, |out| {
            out.extend((failure.status as u32).to_be_bytes());
            string(out, failure.text.as_bytes());
            string(out, b"");
        });
    }

    pub fn handle(&mut self, id: u32, handle: &[u8]) {
        self.answer(HANDLE, id, |out| string(out, handle));
    }

    /// `read` fills the buffer from its start, and returns the number of bytes; 0 is the end of the file.
    pub fn data(
        &mut self,
        id: u32,
        length: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, Failure>,
    ) -> Result<(), Failure> {
        const HEAD_BYTES: usize = 13;
        let start = self.0.len();
        self.0.resize(start + HEAD_BYTES + length, 0);
        let read = read(&mut self.0[start + HEAD_BYTES..]);
        let (length, failure) = match read {
            Ok(0) => (0, Some(Failure::new(Status::Eof, "End of file"))),
            Ok(length) => (length, None),
            Err(failure) => (0, Some(failure)),
        };
        if let Some(failure) = failure {
            self.0.truncate(start);
            return Err(failure);
        }
        self.0.truncate(start + HEAD_BYTES + length);
        let head = &mut self.0[start..start + HEAD_BYTES];
        head[..4].copy_from_slice(&((HEAD_BYTES - 4 + length) as u32).to_be_bytes());
        head[4] = DATA;
        head[5..9].copy_from_slice(&id.to_be_bytes());
        head[9..].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(())
    }

    pub fn names(&mut self, id: u32, names: &[Name]) {
        self.answer(NAME, id, |out| {
            out.extend((names.len() as u32).to_be_bytes());
            for name in names {
                string(out, &name.bytes);
                string(out, &name.long);
                name.attributes.write(out);
            }
        });
    }

    pub fn attributes(&mut self, id: u32, attributes: &Attributes) {
        self.answer(ATTRIBUTES, id, |out| attributes.write(out));
    }

    pub fn numbers(&mut self, id: u32, numbers: &[u64]) {
        self.answer(EXTENDED, id, |out| {
            out.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        });
    }

    fn answer(&mut self, kind: u8, id: u32, body: impl FnOnce(&mut Vec<u8>)) {
        self.packet(kind, |out| {
            out.extend(id.to_be_bytes());
            body(out);
        });
    }

    fn packet(&mut self, kind: u8, body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.0.len();
        self.0.extend([0, 0, 0, 0, kind]);
        body(&mut self.0);
        let length = (self.0.len() - start - 4) as u32;
        self.0[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}

fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}
