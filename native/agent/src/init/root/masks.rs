//! Hides the paths of /proc and /sys that count the work of the whole node. An engine hides some of them already.

use rustix::mount::{MountFlags, mount, mount_bind};
use sandhaven_filter::MASKED_PATHS;
use std::fs;

/// Paths that the node lacks, or that cannot be covered, stay as the engine has left them.
pub fn hide_paths() {
    for path in MASKED_PATHS {
        let Ok(found) = fs::symlink_metadata(path) else {
            continue;
        };
        if found.is_dir() {
            let flags =
                MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
            let _ = mount("tmpfs", *path, "tmpfs", flags, c"nr_blocks=1,nr_inodes=1");
        } else if found.is_file() {
            let _ = mount_bind("/dev/null", *path);
        }
    }
}
