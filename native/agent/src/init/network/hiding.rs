//! Hides the folder with the key, so that no program inside ever reads it: detaches a mount, or deletes the
//! files. An agent that can do neither does not start.

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::Path;

const AT_ONCE: UnmountFlags = UnmountFlags::DETACH.union(UnmountFlags::NOFOLLOW);

/// @returns whether it was a mount.
pub fn hide(folder: &Path, names: &[&str]) -> Result<bool, String> {
    let failed = |error: Error| {
        format!(
            "cannot hide {}: {error}. It must be a mount, with CAP_SYS_ADMIN for the agent, or a \
             writable folder",
            folder.display()
        )
    };
    let was_mount = match unmount(folder, AT_ONCE) {
        Ok(()) => true,
        // Not a mount, or one that this process may not detach.
        Err(Errno::INVAL | Errno::PERM) => {
            delete(folder, names).map_err(failed)?;
            false
        }
        Err(errno) => return Err(failed(errno.into())),
    };
    for name in names {
        let path = folder.join(name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            _ => return Err(format!("{} is still in view", path.display())),
        }
    }
    Ok(was_mount)
}

/// A Secret's files are links into a folder beside them, whose files are deleted too.
fn delete(folder: &Path, names: &[&str]) -> Result<(), Error> {
    let inside = fs::canonicalize(folder)?;
    for name in names {
        let path = inside.join(name);
        let target = fs::canonicalize(&path)?;
        if !target.starts_with(&inside) {
            return Err(Error::other(format!("{} leads out of it", path.display())));
        }
        fs::remove_file(&target)?;
        if target != path {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn left(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn files_are_deleted_and_others_stay() {
        let folder = Folder::new("hiding-files");
        for name in ["a", "b", "other"] {
            fs::write(folder.0.join(name), name).unwrap();
        }
        hide(&folder.0, &["a", "b"]).unwrap();
        assert_eq!(folder.left(), ["other"]);
    }

    #[test]
    fn links_go_with_what_they_lead_to() {
        let folder = Folder::new("hiding-links");
        fs::create_dir(folder.0.join("..data")).unwrap();
        fs::write(folder.0.join("..data/a"), "a").unwrap();
        symlink("..data/a", folder.0.join("a")).unwrap();
        hide(&folder.0, &["a"]).unwrap();
        assert_eq!(folder.left(), ["..data"]);
        assert!(!folder.0.join("..data/a").exists());
    }

    #[test]
    fn nothing_outside_of_the_folder_is_deleted() {
        let (folder, other) = (Folder::new("hiding-inside"), Folder::new("hiding-outside"));
        fs::write(other.0.join("a"), "a").unwrap();
        symlink(other.0.join("a"), folder.0.join("a")).unwrap();
        assert!(hide(&folder.0, &["a"]).is_err());
        assert_eq!(other.left(), ["a"]);
    }
}
