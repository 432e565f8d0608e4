//! Compares a tree with the one that its archive makes.

mod bounds;

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{
    DirBuilderExt, FileExt, MetadataExt, PermissionsExt, chown, lchown, symlink,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{CWD, FileType, Mode, XattrFlags, fsetxattr, mknodat};

use super::{packer, unpacker, xattrs};
use crate::init::workers::Cancelled;

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("sandhaven-carrier-{}-{number}", std::process::id());
        // Not /tmp, which may be in memory: that has no attributes of users.
        let path = PathBuf::from("/var/tmp").join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn folder(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir(&path).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn packed(root: &Path, leave_out: &[&str]) -> Vec<u8> {
    let mut out = Vec::new();
    let leave_out: Vec<_> = leave_out.iter().map(|&name| name.to_owned()).collect();
    packer::pack(root, &leave_out, &mut out, &Cancelled::default()).unwrap();
    out
}

fn unpacked(archive: &[u8], root: &Path) -> Result<u64, String> {
    let none = ["lost+found".to_owned()];
    unpacker::unpack(root, &none, archive, &Cancelled::default()).map_err(|fault| fault.detail)
}

/// All that a tree has, by path; what has one inode has the same number.
fn contents(root: &Path) -> BTreeMap<PathBuf, String> {
    fn visit(
        root: &Path,
        path: &Path,
        inodes: &mut BTreeMap<u64, PathBuf>,
        found: &mut BTreeMap<PathBuf, String>,
    ) {
        let stat = fs::symlink_metadata(path).unwrap();
        let own = path.strip_prefix(root).unwrap().to_path_buf();
        let same = inodes
            .entry(stat.ino())
            .or_insert_with(|| own.clone())
            .clone();
        let mut text = format!(
            "{:o} {}:{} {}.{} {same:?} {}",
            stat.mode(),
            stat.uid(),
            stat.gid(),
            stat.mtime(),
            stat.mtime_nsec(),
            stat.rdev()
        );
        if stat.is_symlink() {
            text += &format!(" -> {:?}", fs::read_link(path).unwrap());
        }
        if stat.is_dir() || stat.is_file() {
            let mut all = xattrs::read(File::open(path).unwrap()).unwrap();
            all.sort();
            text += &format!(" {all:?}");
        }
        if stat.is_file() {
            text += &format!(
                " {} {}",
                stat.len(),
                sum_of(&File::open(path).unwrap(), stat.len())
            );
        }
        found.insert(own, text);
        if stat.is_dir() {
            let mut names: Vec<_> = fs::read_dir(path)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            names.sort();
            for name in names {
                visit(root, &name, inodes, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(root, root, &mut BTreeMap::new(), &mut found);
    found
}

/// Sums the beginning and the end.
fn sum_of(file: &File, size: u64) -> u64 {
    const EACH: u64 = 2 << 20;
    let mut content = vec![0; 2 * EACH as usize];
    let head = size.min(EACH);
    let tail = (size - head).min(EACH);
    let content = &mut content[..(head + tail) as usize];
    file.read_exact_at(&mut content[..head as usize], 0)
        .unwrap();
    file.read_exact_at(&mut content[head as usize..], size - tail)
        .unwrap();
    content.iter().fold(0u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(*byte))
    })
}

fn set_xattr(path: &Path, name: &str, value: &[u8]) {
    fsetxattr(File::open(path).unwrap(), name, value, XattrFlags::empty()).unwrap();
}

fn mknod(path: &Path, kind: FileType) {
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    mknodat(CWD, name, kind, Mode::from_raw_mode(0o640), 0).unwrap();
}

/// Everything that a disk may hold.
fn fill(root: &Path) {
    fs::write(root.join("empty"), "").unwrap();
    fs::write(root.join("file"), "hello\n").unwrap();
    fs::hard_link(root.join("file"), root.join("second")).unwrap();
    fs::set_permissions(root.join("file"), Permissions::from_mode(0o4755)).unwrap();
    chown(root.join("empty"), Some(3_000_000), Some(65_534)).unwrap();
    let deep = root.join("folder/under/another");
    DirBuilder::new().recursive(true).create(&deep).unwrap();
    fs::hard_link(root.join("file"), deep.join("third")).unwrap();
    symlink("../../nowhere", deep.join("link")).unwrap();
    lchown(deep.join("link"), Some(7), Some(8)).unwrap();
    fs::hard_link(deep.join("link"), deep.join("same link")).unwrap();
    fs::write(deep.join("n".repeat(255)), vec![b'x'; 300_000]).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"a=b\n%\xff\x01");
    fs::write(root.join(odd), "odd").unwrap();
    let sparse = File::create(root.join("sparse")).unwrap();
    sparse.set_len(10 << 30).unwrap();
    for at in [0, 1 << 20, (10 << 30) - 5] {
        sparse.write_all_at(b"data!", at).unwrap();
    }
    File::create(root.join("hole"))
        .unwrap()
        .set_len(1 << 20)
        .unwrap();
    set_xattr(&root.join("file"), "user.name=value%", b"\0\n\xff");
    set_xattr(&root.join("folder"), "user.overlay.opaque", b"y");
    // An effective and permitted CAP_NET_RAW, of version 2.
    let raw = b"\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    set_xattr(&root.join("empty"), "security.capability", raw);
    mknod(&root.join("whiteout"), FileType::CharacterDevice);
    fs::hard_link(root.join("whiteout"), root.join("folder/whiteout")).unwrap();
    mknod(&root.join("fifo"), FileType::Fifo);
    for path in ["file", "folder/under", "folder"] {
        let file = File::open(root.join(path)).unwrap();
        let before_epoch = std::time::UNIX_EPOCH - std::time::Duration::from_nanos(1_234_567_890);
        file.set_modified(before_epoch).unwrap();
    }
    fs::set_permissions(root.join("folder"), Permissions::from_mode(0o2500)).unwrap();
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn a_tree_comes_back_with_all_that_it_had() {
    if !is_root() {
        return eprintln!("not run: owners and whiteouts need root");
    }
    let scratch = Scratch::new();
    let (from, to) = (scratch.folder("from"), scratch.folder("to"));
    fill(&from);
    fs::create_dir(from.join("work")).unwrap();
    let mut expected = contents(&from);
    drop(std::os::unix::net::UnixListener::bind(from.join("socket")).unwrap());
    fs::create_dir_all(from.join("lost+found/x")).unwrap();
    fs::create_dir(from.join("work/inside")).unwrap();
    fs::create_dir(to.join("lost+found")).unwrap();
    let archive = packed(&from, &["lost+found", "work/"]);
    assert!(archive.len() < 1 << 20, "{} bytes", archive.len());
    let entries = unpacked(&archive, &to).unwrap();
    assert_eq!(entries, expected.len() as u64);
    fs::remove_dir(to.join("lost+found")).unwrap();
    let mut found = contents(&to);
    // Times that changed when the socket was made and the folder removed.
    for tree in [&mut expected, &mut found] {
        for path in ["", "work"] {
            tree.remove(Path::new(path)).unwrap();
        }
    }
    assert_eq!(found, expected);
    let blocks = |root: &Path| fs::metadata(root.join("sparse")).unwrap().blocks();
    assert_eq!(blocks(&to), blocks(&from));
    assert_eq!(packed(&from, &["lost+found", "work/"]), archive);
}

#[test]
fn gnu_tar_reads_an_archive() {
    let scratch = Scratch::new();
    let (from, to) = (scratch.folder("from"), scratch.folder("to"));
    if is_root() {
        fill(&from);
        fs::remove_file(from.join("whiteout")).unwrap();
        fs::remove_file(from.join("folder/whiteout")).unwrap();
    } else {
        fs::write(from.join("file"), "hello\n").unwrap();
    }
    let expected = contents(&from);
    let archive = scratch.0.join("archive.tar");
    fs::write(&archive, packed(&from, &[])).unwrap();
    let tar = Command::new("tar")
        .args([
            "--extract",
            "--xattrs",
            "--xattrs-include=*",
            "--same-owner",
            "--preserve-permissions",
        ])
        .arg("--file")
        .arg(&archive)
        .arg("--directory")
        .arg(&to)
        .output()
        .unwrap();
    assert!(
        tar.status.success(),
        "{}",
        String::from_utf8_lossy(&tar.stderr)
    );
    assert_eq!(contents(&to), expected);
}

#[test]
fn a_disk_that_is_not_empty_is_left_alone() {
    let scratch = Scratch::new();
    let (from, to) = (scratch.folder("from"), scratch.folder("to"));
    fs::write(to.join("left"), "left").unwrap();
    let refused = unpacked(&packed(&from, &[]), &to).unwrap_err();
    assert_eq!(refused, "The disk is not empty.");
    assert_eq!(fs::read_to_string(to.join("left")).unwrap(), "left");
}

#[test]
fn an_archive_writes_nothing_outside_of_the_disk() {
    use crate::carrier::tar::entry::{Attributes, Entry, Kind};
    use crate::carrier::tar::writer::Writer;
    let scratch = Scratch::new();
    let outside = scratch.folder("outside");
    fs::write(outside.join("secret"), "secret").unwrap();
    let attributes = Attributes {
        mode: 0o755,
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        modified: (0, 0),
        xattrs: Vec::new(),
    };
    let entry = |path: &str, kind: Kind| Entry {
        path: path.as_bytes().to_vec(),
        kind,
        attributes: attributes.clone(),
    };
    let file = || Kind::File {
        size: 0,
        parts: Vec::new(),
    };
    let link = || Kind::Symlink(outside.as_os_str().as_bytes().to_vec());
    let hard = |target: &str| Kind::Link(target.as_bytes().to_vec());
    for (number, (entries, expected)) in [
        (
            vec![entry("a", link()), entry("a/file", file())],
            "an entry lies in a folder that is not there",
        ),
        (
            vec![entry("a", link()), entry("a", Kind::Folder)],
            "'a' already exists",
        ),
        (
            vec![entry("a", link()), entry("b", hard("a/secret"))],
            "'a/secret'",
        ),
        (
            vec![entry("b", hard("../secret"))],
            "a link leads elsewhere",
        ),
        (vec![entry("../b", file())], "a path is none"),
    ]
    .into_iter()
    .enumerate()
    {
        let disk = scratch.folder(&number.to_string());
        let mut archive = Vec::new();
        let mut writer = Writer::new(&mut archive);
        writer.entry(&entry("", Kind::Folder)).unwrap();
        for entry in &entries {
            writer.entry(entry).unwrap();
        }
        writer.finish().unwrap();
        let refused = unpacked(&archive, &disk).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    }
}

#[derive(Clone, Debug)]
struct Made {
    folder: prop::sample::Index,
    name: String,
    content: Vec<u8>,
    kind: u8,
    mode: u32,
    hole: u16,
}

fn made() -> impl Strategy<Value = Vec<Made>> {
    let one = (
        any::<prop::sample::Index>(),
        "[a-z]{1,3}",
        prop::collection::vec(any::<u8>(), 0..3_000),
        0u8..5,
        0u32..=0o777,
        any::<u16>(),
    );
    let one = one.prop_map(|(folder, name, content, kind, mode, hole)| Made {
        folder,
        name,
        content,
        kind,
        mode,
        hole,
    });
    prop::collection::vec(one, 0..30)
}

proptest! {
    // A failure prints its input, and keeps its seed beside this file.
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_tree_comes_back(all in made()) {
        let scratch = Scratch::new();
        let (from, to) = (scratch.folder("from"), scratch.folder("to"));
        let mut folders = vec![from.clone()];
        let mut files: Vec<PathBuf> = Vec::new();
        for one in &all {
            let path = one.folder.get(&folders).join(&one.name);
            if path.symlink_metadata().is_ok() {
                continue;
            }
            match one.kind {
                0 => {
                    DirBuilder::new().mode(one.mode | 0o700).create(&path).unwrap();
                    folders.push(path);
                }
                1 => symlink(std::ffi::OsStr::from_bytes(b"to/\xfe"), &path).unwrap(),
                2 if !files.is_empty() => {
                    fs::hard_link(one.folder.get(&files), &path).unwrap();
                }
                _ => {
                    let file = File::create(&path).unwrap();
                    file.set_len(u64::from(one.hole) * 7).unwrap();
                    file.write_all_at(&one.content, u64::from(one.hole) * 5).unwrap();
                    fs::set_permissions(&path, Permissions::from_mode(one.mode | 0o400)).unwrap();
                    files.push(path);
                }
            }
        }
        let archive = packed(&from, &[]);
        unpacked(&archive, &to).unwrap();
        prop_assert_eq!(contents(&to), contents(&from));
        prop_assert!(unpacked(&archive[..archive.len() / 2], &scratch.folder("cut")).is_err());
    }
}
