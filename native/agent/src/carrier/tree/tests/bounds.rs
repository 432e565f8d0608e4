//! What an archive refuses, since no disk could be made of it, and what it needs no more room for.

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
