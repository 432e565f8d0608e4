"""Prints all that files below the folder of the first argument have, as JSON by path."""
import hashlib
import json
import os
import stat
import sys

os.chdir(sys.argv[1])
inodes = {}


def shown(path):
    seen = os.lstat(path)
    kind = stat.S_IFMT(seen.st_mode)
    found = {
        "mode": seen.st_mode,
        "owner": [seen.st_uid, seen.st_gid],
        "modified": str(seen.st_mtime_ns),
    }
    # An overlay gives numbers of two file systems; only names of one file are compared.
    if kind != stat.S_IFDIR and seen.st_nlink > 1:
        found["same"] = inodes.setdefault((seen.st_dev, seen.st_ino), path)
    if kind == stat.S_IFLNK:
        found["leads"] = os.readlink(path)
    if kind in (stat.S_IFREG, stat.S_IFDIR):
        found["xattrs"] = {name: os.getxattr(path, name).hex() for name in sorted(os.listxattr(path))}
    if kind == stat.S_IFREG:
        found["size"] = seen.st_size
        found["blocks"] = seen.st_blocks
        with open(path, "rb") as file:
            found["sha256"] = hashlib.sha256(file.read(2**22)).hexdigest()
    return found


everything = {".": shown(".")}
for folder, folders, files in os.walk("."):
    folders.sort()
    for name in sorted(folders + files):
        path = os.path.relpath(os.path.join(folder, name))
        if path != "lost+found":
            everything[os.fsencode(path).decode("latin-1")] = shown(path)
print(json.dumps(everything))
