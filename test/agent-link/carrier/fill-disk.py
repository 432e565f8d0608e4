"""Makes everything that a disk can have, in the folder of the first argument."""
import os
import sys

os.chdir(sys.argv[1])


def write(path, text="", mode=0o644):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


write("empty")
os.chown("empty", 65534, 1000)
write("file", "hello\n", 0o4711)
os.link("file", "second name")
os.setxattr("file", "user.name", b"\0\n\xff")
# CAP_NET_RAW, effective and permitted.
os.setxattr("file", "security.capability", bytes.fromhex("0100000200200000") + bytes(12))
os.makedirs("folder/" + "deep/" * 60)
os.setxattr("folder", "user.kind", b"y")
os.chmod("folder", 0o2750)
os.link("file", "folder/third")
os.symlink("../" + "x" * 2000, "folder/link")
os.chown("folder/link", 7, 8, follow_symlinks=False)
os.mkfifo("fifo")
write(b"\xff=\n" + b"n" * 240, "odd")
with open("sparse", "wb") as file:
    file.truncate(10 * 2**30)
    for at in (0, 2**20, 10 * 2**30 - 4):
        file.seek(at)
        file.write(b"data")
for path in ("file", "folder/deep", "folder"):
    os.utime(path, ns=(0, -1_234_567_890))
