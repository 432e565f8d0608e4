//! The folders that outlive a stop where the cluster allows no overlay: each is copied from the image to the disk, once,
//! and mounted in its own place from then on.

use rustix::fs::{Mode, OFlags, mkdir, open, syncfs};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::Path;

use super::copy;
use super::trees::{clone, hide, put};

const FOLDERS: [&str; 2] = ["workspace", "home"];
const ON_DISK: &str = "folders";

pub fn are_on(disk: &Path) -> bool {
    disk.join(ON_DISK).exists()
}

/// Hides the disk.
pub fn bind(disk: &Path) -> Result<(), String> {
    let copies = disk.join(ON_DISK);
    let failed = |error: io::Error| format!("cannot keep folders on {}: {error}", disk.display());
    match mkdir(&copies, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(failed(errno.into())),
    }
    let mut mounts = Vec::new();
    for name in FOLDERS {
        let (place, kept) = (Path::new("/").join(name), copies.join(name));
        prepare(&place, &kept, || sync(disk)).map_err(failed)?;
        mounts.push((place, clone(&kept)?));
    }
    hide(disk)?;
    for (place, mount) in mounts {
        put(&mount, &place).map_err(|errno| format!("cannot show {}: {errno}", place.display()))?;
    }
    Ok(())
}

fn sync(disk: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(syncfs(open(disk, flags, Mode::empty())?)?)
}

/// Copies the image's folder under another name first, so that an interrupted copy does not count.
/// @param sync Writes all of it to the disk: the name must not exist before the content, whatever ends the node.
fn prepare(image: &Path, kept: &Path, mut sync: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    if kept.exists() {
        return Ok(());
    }
    let incomplete = kept.with_extension("incomplete");
    if incomplete.exists() {
        fs::remove_dir_all(&incomplete)?;
    }
    if image.is_dir() {
        copy::tree(image, &incomplete)?;
    } else {
        fs::create_dir(&incomplete)?;
    }
    sync()?;
    fs::rename(&incomplete, kept)?;
    sync()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_copied_once_and_an_interrupted_copy_begins_anew() {
        let disk = std::env::temp_dir().join(format!("folders-{}", std::process::id()));
        let (image, kept) = (disk.join("image"), disk.join("kept"));
        fs::create_dir_all(&image).unwrap();
        fs::write(image.join("a"), "of the image").unwrap();
        fs::create_dir(disk.join("kept.incomplete")).unwrap();
        fs::write(disk.join("kept.incomplete/half"), "").unwrap();
        let mut synced = Vec::new();
        let prepared = prepare(&image, &kept, || {
            let file = |folder: &str| disk.join(folder).join("a").exists();
            synced.push((file("kept.incomplete"), file("kept")));
            Ok(())
        });
        prepared.unwrap();
        // The content first, then its name.
        assert_eq!(synced, [(true, false), (false, true)]);
        assert_eq!(fs::read_to_string(kept.join("a")).unwrap(), "of the image");
        assert!(!kept.join("half").exists());
        fs::write(kept.join("a"), "changed").unwrap();
        prepare(&image, &kept, || sync(&disk)).unwrap();
        assert_eq!(fs::read_to_string(kept.join("a")).unwrap(), "changed");
        prepare(&disk.join("missing"), &disk.join("new"), || sync(&disk)).unwrap();
        assert_eq!(fs::read_dir(disk.join("new")).unwrap().count(), 0);
        fs::remove_dir_all(&disk).unwrap();
    }
}
