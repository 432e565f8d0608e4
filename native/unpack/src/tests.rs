//! Tests all but the confinement, which needs a process of its own: even without it nothing is made outside.

use crate::apply::Applier;
use crate::archive::Archive;
use crate::budget::{Budget, Limits};
use crate::failure::{Failure, Kind};
use crate::header::BLOCK;
use crate::layer::{Layer, LayerStream, Source};
use crate::tree::Tree;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const LIMITS: Limits = Limits {
    bytes: 1 << 20,
    entries: 1000,
    file_bytes: 1 << 20,
    depth: 32,
    ratio: 10,
    ratio_free: 100_000,
    reserve_bytes: 0,
};

/// A folder with `root`, which is filled, and `outside`, which nothing may touch. Removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("sandhaven-unpack-{}-{number}", std::process::id()));
        fs::create_dir_all(path.join("root")).unwrap();
        fs::create_dir(path.join("outside")).unwrap();
        fs::write(path.join("outside/secret"), "kept").unwrap();
        Scratch(path)
    }

    fn root(&self) -> PathBuf {
        self.0.join("root")
    }

    fn assert_outside_is_untouched(&self) {
        assert_eq!(names(&self.0), ["outside", "root"]);
        assert_eq!(names(&self.0.join("outside")), ["secret"]);
        assert_eq!(fs::read(self.0.join("outside/secret")).unwrap(), b"kept");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

struct Bytes {
    content: Vec<u8>,
    at: usize,
    budget: Budget,
}

impl Source for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        // In small pieces, so that every boundary is met.
        let count = buffer.len().min(self.content.len() - self.at).min(313);
        buffer[..count].copy_from_slice(&self.content[self.at..self.at + count]);
        self.at += count;
        self.budget.stream(count as u64)?;
        Ok(count)
    }

    fn budget(&mut self) -> &mut Budget {
        &mut self.budget
    }
}

fn open(path: &Path) -> std::os::fd::OwnedFd {
    File::open(path).unwrap().into()
}

fn apply(scratch: &Scratch, content: Vec<u8>) -> Result<(), Failure> {
    let budget = Budget::new(LIMITS, open(&scratch.root()));
    let mut archive = Archive::new(Bytes {
        content,
        at: 0,
        budget,
    });
    Applier::new(Tree::new(open(&scratch.root()), LIMITS.depth)).apply(&mut archive)
}

fn entry(kind: u8, name: &str, link: &str, content: &[u8]) -> Vec<u8> {
    let mut block = [0u8; BLOCK];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, b"0000755\0");
    put(124, format!("{:011o}\0", content.len()).as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(157, link.as_bytes());
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let padding = content.len().next_multiple_of(BLOCK) - content.len();
    [&block[..], content, &vec![0; padding]].concat()
}

#[test]
fn links_that_lead_out_lead_inside_instead() {
    let scratch = Scratch::new();
    let outside = scratch.0.join("outside");
    for target in [
        outside.to_str().unwrap(),
        "../outside",
        "../../../../../../../../..",
    ] {
        let archive = [
            entry(b'2', "out", target, b""),
            entry(b'0', "out/new", "", b"x"),
            entry(b'0', "out/.wh.secret", "", b""),
            entry(b'0', "out/.wh..wh..opq", "", b""),
            entry(b'5', "out/folder", "", b""),
        ];
        let _ = apply(&scratch, archive.concat());
        scratch.assert_outside_is_untouched();
    }
}

#[test]
fn what_is_there_already_is_not_followed_either() {
    let scratch = Scratch::new();
    symlink(scratch.0.join("outside"), scratch.root().join("lower")).unwrap();
    let archive = [
        entry(b'0', "lower/secret", "", b"x"),
        entry(b'1', "hard", "lower/../../outside/secret", b""),
    ];
    let _ = apply(&scratch, archive.concat());
    scratch.assert_outside_is_untouched();
}

#[test]
fn folders_are_not_nested_without_end() {
    let scratch = Scratch::new();
    let deep = "d/".repeat(20);
    let again = format!("s/{deep}");
    let archive = [
        entry(b'5', &deep, "", b""),
        entry(b'2', "s", &deep, b""),
        entry(b'5', &again, "", b""),
    ];
    assert_eq!(
        apply(&scratch, archive.concat()).unwrap_err().kind,
        Kind::Unusable
    );
}

#[test]
fn a_layer_that_grows_beyond_its_ratio_is_refused_and_one_that_lies_is_named() {
    let scratch = Scratch::new();
    let hex = |bytes: &[u8]| -> String {
        Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    let unpack = |plain: &[u8], digest: Option<&str>| -> Result<(), Failure> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(plain).unwrap();
        let blob = encoder.finish().unwrap();
        let path = scratch.0.join("root/blob");
        fs::write(&path, &blob).unwrap();
        let layer = Layer {
            file: File::open(&path).unwrap(),
            digest: digest.map_or_else(|| hex(&blob), str::to_owned),
            diff_id: hex(plain),
        };
        let mut budget = Budget::new(LIMITS, open(&scratch.root()));
        let mut archive = Archive::new(LayerStream::open(layer, &mut budget)?);
        let outcome =
            Applier::new(Tree::new(open(&scratch.root()), LIMITS.depth)).apply(&mut archive);
        archive.into_source().finish(outcome)
    };
    assert!(unpack(&entry(b'0', "a", "", &[7; 90_000]), None).is_ok());
    let failure = unpack(&entry(b'0', "a", "", &[7; 200_000]), None).unwrap_err();
    assert_eq!(failure.kind, Kind::TooLarge);
    let failure = unpack(b"rubbish", Some("00")).unwrap_err();
    assert_eq!(failure.kind, Kind::WrongDigest);
    assert_eq!(unpack(&[1; 600], None).unwrap_err().kind, Kind::Unusable);
}

fn odd_name() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "a",
        "b",
        "..",
        ".",
        "",
        ".wh.a",
        ".wh...",
        ".wh..wh..opq",
        "outside",
    ]);
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_archive_makes_anything_outside(
        entries in prop::collection::vec(
            (prop::sample::select(b"0123567LxgS".to_vec()), odd_name(), odd_name(), 0..700usize),
            1..12,
        ),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let scratch = Scratch::new();
        let mut archive = Vec::new();
        for (kind, name, link, size) in entries {
            archive.extend(entry(kind, &name, &link, &vec![b'1'; size]));
        }
        for (at, value) in flips {
            let at = at.index(archive.len());
            archive[at] = value;
        }
        let _ = apply(&scratch, archive);
        scratch.assert_outside_is_untouched();
    }

    #[test]
    fn rubbish_is_refused(content in prop::collection::vec(any::<u8>(), 512..5_000)) {
        let scratch = Scratch::new();
        let _ = apply(&scratch, content);
        scratch.assert_outside_is_untouched();
    }
}
