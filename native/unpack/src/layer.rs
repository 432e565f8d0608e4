//! One layer as a stream of bytes. Its first bytes select the decompression, and both digests are computed
//! while reading.

use crate::budget::Budget;
use crate::failure::{Failure, Kind, unusable};
use crate::zstd::{self, Zstd};
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// A layer that the service names, opened before this program is confined.
pub struct Layer {
    pub file: File,
    /// SHA-256 of the file and of its decompressed content, in lower-case hex.
    pub digest: String,
    pub diff_id: String,
}

/// Source of an archive's bytes.
pub trait Source {
    /// 0 at the end alone.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure>;
    fn budget(&mut self) -> &mut Budget;
}

const BUFFER: usize = 128 * 1024;

type Blob = BufReader<Hashing>;

struct Hashing {
    file: File,
    hash: Sha256,
}

impl Read for Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

enum Decoder {
    Plain(Blob),
    Gzip(Box<MultiGzDecoder<Blob>>),
    Zstd(Box<Zstd<Blob>>),
}

pub struct LayerStream<'a> {
    decoder: Decoder,
    hash: Sha256,
    produced: u64,
    most: u64,
    digest: String,
    diff_id: String,
    budget: &'a mut Budget,
}

impl<'a> LayerStream<'a> {
    pub fn open(layer: Layer, budget: &'a mut Budget) -> Result<LayerStream<'a>, Failure> {
        let size = layer.file.metadata().map_err(internal)?.len();
        let limits = budget.limits;
        let hashing = Hashing {
            file: layer.file,
            hash: Sha256::new(),
        };
        let mut blob = BufReader::with_capacity(BUFFER, hashing);
        let start = blob.fill_buf().map_err(internal)?;
        let decoder = if start.starts_with(&[0x1f, 0x8b]) {
            Decoder::Gzip(Box::new(MultiGzDecoder::new(blob)))
        } else if zstd::begins(start) {
            Decoder::Zstd(Box::new(Zstd::new(blob)))
        } else {
            Decoder::Plain(blob)
        };
        Ok(LayerStream {
            decoder,
            hash: Sha256::new(),
            produced: 0,
            most: size
                .saturating_mul(limits.ratio)
                .saturating_add(limits.ratio_free),
            digest: layer.digest,
            diff_id: layer.diff_id,
            budget,
        })
    }

    /// Reads what follows the archive, and compares both digests. An error in the layer is the image's fault
    /// only when the file matches its digest.
    pub fn finish(mut self, outcome: Result<(), Failure>) -> Result<(), Failure> {
        let outcome = outcome.and_then(|()| self.drain());
        if let Err(Failure {
            kind: Kind::NoSpace | Kind::Internal,
            ..
        }) = outcome
        {
            return outcome;
        }
        let mut blob = match self.decoder {
            Decoder::Plain(blob) => blob,
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.into_inner(),
        };
        std::io::copy(&mut blob, &mut std::io::sink()).map_err(internal)?;
        compare(Kind::WrongDigest, &self.digest, blob.into_inner().hash)?;
        outcome?;
        compare(Kind::Unusable, &self.diff_id, self.hash)
    }

    fn drain(&mut self) -> Result<(), Failure> {
        let mut rest = vec![0; BUFFER];
        while self.read(&mut rest)? > 0 {}
        Ok(())
    }
}

impl Source for LayerStream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        let read = match &mut self.decoder {
            Decoder::Plain(blob) => blob.read(buffer),
            Decoder::Gzip(decoder) => decoder.read(buffer),
            Decoder::Zstd(decoder) => decoder.read(buffer),
        };
        let count = read.map_err(|error| unusable(format!("a layer is damaged ({error})")))?;
        self.produced += count as u64;
        if self.produced > self.most {
            let ratio = self.budget.limits.ratio;
            let message = format!("a layer that unpacks to more than {ratio} times its size");
            return Err(Failure::new(Kind::TooLarge, message));
        }
        self.budget.stream(count as u64)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }

    fn budget(&mut self) -> &mut Budget {
        self.budget
    }
}

fn compare(kind: Kind, wanted: &str, hash: Sha256) -> Result<(), Failure> {
    let digest = hash.finalize();
    let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    if found == wanted {
        return Ok(());
    }
    let what = if kind == Kind::Unusable {
        "diff_id"
    } else {
        "digest"
    };
    Err(Failure::new(
        kind,
        format!("the {what} of a layer is not the expected one"),
    ))
}

fn internal(error: std::io::Error) -> Failure {
    Failure::new(Kind::Internal, format!("read a layer: {error}"))
}
