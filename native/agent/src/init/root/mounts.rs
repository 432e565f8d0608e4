//! Mounts of a container engine in the container, and the ones that belong into the new root.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Files that the engine writes for each container. It shares them with the node, so they are copied.
pub const ETC_FILES: [&str; 3] = ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"];

/// Kept with all below them: the kernel's own views, devices, and the container's memory.
const KEPT: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Mounts right below the root that the new one needs as they are. Other writable ones, such as volumes that
/// an image declares, are left out: files there would neither last nor count as the disk's.
/// @param mountinfo As `/proc/self/mountinfo` has it.
/// @param hidden Never kept, with all below it.
pub fn kept(mountinfo: &[u8], hidden: &Path) -> Vec<PathBuf> {
    let mounts: Vec<Mount> = mountinfo
        .split(|byte| *byte == b'\n')
        .filter_map(parse)
        .collect();
    let root = mounts.iter().rfind(|mount| mount.place == Path::new("/"));
    let Some(root) = root.map(|mount| mount.id) else {
        return Vec::new();
    };
    let mut kept: Vec<PathBuf> = mounts
        .into_iter()
        .filter(|mount| {
            mount.parent == root && mount.id != root && !mount.place.starts_with(hidden)
        })
        .filter(|Mount { place, .. }| ETC_FILES.iter().all(|file| place != Path::new(file)))
        .filter(|mount| mount.is_read_only || KEPT.iter().any(|one| mount.place.starts_with(one)))
        .map(|mount| mount.place)
        .collect();
    // A place with several mounts shows the last one.
    kept.sort();
    kept.dedup();
    kept
}

/// True for mounts that every machine needs.
/// @param agent This program, where the engine has mounted it.
pub fn is_essential(place: &Path, agent: &Path) -> bool {
    KEPT.iter().any(|one| place.starts_with(one)) || agent.starts_with(place)
}

struct Mount {
    id: u64,
    parent: u64,
    place: PathBuf,
    is_read_only: bool,
}

fn parse(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse().ok();
    let (id, parent) = (number()?, number()?);
    let (_device, _folder) = (fields.next()?, fields.next()?);
    let place = OsString::from_vec(unescaped(fields.next()?)).into();
    let mut options = fields.next()?.split(|byte| *byte == b',');
    Some(Mount {
        id,
        parent,
        place,
        is_read_only: options.any(|option| option == b"ro"),
    })
}

/// The kernel writes blanks and backslashes as three octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, others @ ..] = rest {
        rest = others;
        let digits = others
            .get(..3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &others[3..];
            }
            _ => bytes.push(*first),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a Pod, shortened.
    const POD: &str = "\
790 623 0:71 / / rw,relatime - overlay overlay rw,lowerdir=/l
791 790 0:75 / /proc rw,nosuid - proc proc rw
792 791 0:75 /bus /proc/bus ro,nosuid - proc proc rw
793 790 0:76 / /dev rw,nosuid - tmpfs tmpfs rw
794 793 0:77 / /dev/pts rw,nosuid - devpts devpts rw
795 790 0:73 / /sys ro,nosuid - sysfs sysfs ro
796 790 7:0 /etc-hosts /etc/hosts rw - ext4 /dev/vda1 rw
797 790 7:0 /hostname /etc/hostname ro - ext4 /dev/vda1 rw
798 790 7:3 / /.sandhaven/disk rw - ext4 /dev/loop3 rw
799 790 0:80 / /.sandhaven/agent ro - overlay overlay ro
800 790 7:0 /volumes/1 /data\\040of\\134it rw - ext4 /dev/vda1 rw
801 790 7:0 /lib.so /usr/lib/a\\040b.so ro,nosuid - ext4 /dev/vda1 rw
802 798 7:0 /x /.sandhaven/disk/x ro - ext4 /dev/vda1 rw
";

    fn names(mountinfo: &str) -> Vec<String> {
        let found = kept(mountinfo.as_bytes(), Path::new("/.sandhaven/disk"));
        found
            .into_iter()
            .map(|place| place.to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn views_of_the_kernel_and_read_only_mounts_are_kept_and_no_others() {
        assert_eq!(
            names(POD),
            [
                "/.sandhaven/agent",
                "/dev",
                "/proc",
                "/sys",
                "/usr/lib/a b.so"
            ]
        );
    }

    #[test]
    fn a_machine_does_without_mounts_that_are_neither_the_kernels_nor_the_agents() {
        let agent = Path::new("/.sandhaven/agent/sandhaven-agent");
        let found = kept(POD.as_bytes(), Path::new("/.sandhaven/disk"));
        let (essential, others): (Vec<_>, Vec<_>) =
            found.iter().partition(|place| is_essential(place, agent));
        let essential: Vec<_> = essential
            .iter()
            .map(|place| place.to_str().unwrap())
            .collect();
        assert_eq!(essential, ["/.sandhaven/agent", "/dev", "/proc", "/sys"]);
        assert_eq!(others, [Path::new("/usr/lib/a b.so")]);
    }

    #[test]
    fn the_uppermost_root_counts() {
        let covered = format!(
            "{POD}900 790 0:90 / / rw - overlay overlay rw\n901 900 0:75 / /proc rw - proc proc rw\n"
        );
        assert_eq!(names(&covered), ["/proc"]);
    }

    #[test]
    fn nothing_is_kept_of_what_cannot_be_read() {
        for text in ["", "\n", "x y z\n", "1 2\n"] {
            assert_eq!(names(text), [""; 0], "{text:?}");
        }
    }
}
