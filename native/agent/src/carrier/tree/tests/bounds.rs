//! Archives that are refused, since no disk could be made from them, and entries that take no room.

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};
use std::os::fd::{AsRawFd, OwnedFd};

use super::super::level::Level;
use super::super::room::Room;
use super::*;
use crate::wire::fault::{Code, Fault};

fn packed_within(most: u64, root: &Path) -> Result<(), Fault> {
    let room = Room::new(most, 4096);
    let root = File::open(root).unwrap();
    packer::pack_within(room, root, &[], std::io::sink(), &Cancelled::default())
}

#[test]
fn files_are_refused_that_need_more_room_than_the_disk_has() {
    let scratch = Scratch::new();
    let from = scratch.folder("from");
    for name in ["a", "b"] {
        fs::write(from.join(name), [7; 5_000]).unwrap();
    }
    // Further names and holes take no room.
    fs::hard_link(from.join("a"), from.join("c")).unwrap();
    let hole = File::create(from.join("hole")).unwrap();
    hole.set_len(1 << 30).unwrap();
    packed_within(4 * 4096, &from).unwrap();
    let refused = packed_within(4 * 4096 - 1, &from).unwrap_err();
    assert_eq!(refused.code, Code::FailedPrecondition);
    assert!(refused.detail.contains("share blocks"), "{refused:?}");
}

#[test]
fn zeros_become_holes_and_take_no_blocks() {
    let scratch = Scratch::new();
    let (from, to) = (scratch.folder("from"), scratch.folder("to"));
    let mut content = vec![0; 3 << 20];
    // At both sides of the edge between two pieces, and of that between two chunks; and in the last, short piece.
    for at in [4_095, 4_096, (1 << 20) - 1, 1 << 20, 2_000_000] {
        content[at] = 7;
    }
    content.extend([0; 100]);
    fs::write(from.join("zeros"), &content).unwrap();
    unpacked(&packed(&from, &[]), &to).unwrap();
    assert!(fs::read(to.join("zeros")).unwrap() == content);
    let blocks = fs::metadata(to.join("zeros")).unwrap().blocks();
    assert!(blocks <= 8 * 8, "{blocks} blocks");
}

/// A disk in memory that no path leads to but that of its descriptor. Needs CAP_SYS_ADMIN.
fn small_disk() -> Option<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC).ok()?;
    fsconfig_set_string(&context, "size", "64k").ok()?;
    fsconfig_create(&context).ok()?;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    fsmount(&context, flags, MountAttrFlags::empty()).ok()
}

#[test]
fn a_disk_that_is_too_small_for_an_archive_leads_to_the_operator() {
    let Some(disk) = small_disk() else {
        return eprintln!("not run: mounts need CAP_SYS_ADMIN");
    };
    let scratch = Scratch::new();
    let from = scratch.folder("from");
    fs::write(from.join("large"), vec![7; 1 << 20]).unwrap();
    let to = PathBuf::from(format!("/proc/self/fd/{}/disk", disk.as_raw_fd()));
    fs::create_dir(&to).unwrap();
    let archive = packed(&from, &[]);
    let refused = unpacker::unpack(&to, &[], &archive[..], &Cancelled::default()).unwrap_err();
    assert_eq!(refused.code, Code::ResourceExhausted);
    assert!(refused.hint.unwrap().contains("operator"), "{refused:?}");
}

#[test]
fn attributes_are_read_up_to_a_bound() {
    let scratch = Scratch::new();
    let path = scratch.folder("folder");
    set_xattr(&path, "user.a", &[1; 94]);
    set_xattr(&path, "user.b", &[2; 94]);
    let file = File::open(&path).unwrap();
    assert_eq!(xattrs::read_within(200, &file).unwrap().len(), 2);
    let refused = xattrs::read_within(199, &file).unwrap_err();
    assert_eq!(refused, rustix::io::Errno::TOOBIG);
}

#[test]
fn an_open_folder_keeps_its_access_lists_alone() {
    use crate::carrier::tar::entry::Attributes;
    let scratch = Scratch::new();
    let folder = || OwnedFd::from(File::open(scratch.0.join("folder")).unwrap());
    let path = scratch.folder("folder");
    // Version 2; rights of the owner, of the group and of others.
    let list = b"\x02\0\0\0\x01\0\x07\0\xff\xff\xff\xff\x04\0\x05\0\xff\xff\xff\xff\x20\0\0\0\xff\xff\xff\xff";
    let own = ("user.own".into(), vec![7; 1_000]);
    let default = (xattrs::ACCESS_LISTS[1].to_vec(), list.to_vec());
    let mut attributes = Attributes {
        mode: 0o750,
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        modified: (5, 6),
        xattrs: vec![own.clone(), default.clone()],
    };
    let level = Level::new(b"folder", folder(), &attributes).unwrap();
    assert_eq!(level.attributes.xattrs, std::slice::from_ref(&default));
    assert_eq!(xattrs::read(File::open(&path).unwrap()).unwrap(), [own]);
    level.leave().unwrap();
    let all = xattrs::read(File::open(&path).unwrap()).unwrap();
    assert!(all.contains(&default), "{all:?}");
    assert_eq!(fs::metadata(&path).unwrap().mtime(), 5);
    attributes.xattrs = vec![default; 3];
    assert!(Level::new(b"folder", folder(), &attributes).is_err());
}

fn refused(root: &Path) -> Fault {
    packer::pack(root, &[], std::io::sink(), &Cancelled::default()).unwrap_err()
}

#[test]
fn a_folder_that_lies_too_deep_is_named() {
    let scratch = Scratch::new();
    let mut deep = scratch.folder("from");
    for _ in 0..901 {
        deep.push("d");
    }
    DirBuilder::new().recursive(true).create(&deep).unwrap();
    let detail = refused(&scratch.0.join("from")).detail;
    assert!(detail.contains("more than 900 levels"), "{detail}");
    assert!(detail.ends_with("d/d/d'."), "{detail}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    // The kernel reports each file here as a page long, although it has fewer bytes.
    let odd = Path::new("/sys/kernel/cgroup");
    if !odd.join("features").exists() {
        return eprintln!("not run: the kernel shows no such files");
    }
    let detail = refused(odd).detail;
    let is_named = detail.contains("'features'") || detail.contains("'delegate'");
    assert!(is_named, "{detail}");
}

#[test]
fn a_file_is_named_whose_attributes_the_disk_does_not_take() {
    let file = File::open("/proc/self/stat").unwrap();
    let attribute = ("user.name".into(), b"value".to_vec());
    let detail = xattrs::write(&file, [&attribute], b"folder/file")
        .unwrap_err()
        .detail;
    assert!(detail.contains("user.name of 'folder/file'"), "{detail}");
}
