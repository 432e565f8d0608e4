# Takes the root of a machine away, in a copy of its mount namespace, and prints what lies below: place and kind of each mount.
# Runs on the host, as root. The argument is the id of the machine's PID 1 there.
import ctypes
import os
import sys

NEWNS, NEWUSER = 0x20000, 0x10000000
DETACH = 2
libc = ctypes.CDLL(None, use_errno=True)


def must(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def enter(namespace, kind):
    must(libc.setns(namespace, kind))


# By then no path leads there.
proc = os.open('/proc', os.O_RDONLY | os.O_DIRECTORY)
namespaces = [(os.open(f'/proc/{sys.argv[1]}/ns/{name}', os.O_RDONLY), kind)
              for name, kind in [('user', NEWUSER), ('mnt', NEWNS)]]
for namespace, kind in namespaces:
    enter(namespace, kind)
must(libc.unshare(NEWNS))
must(libc.umount2(b'/', DETACH))
enter(os.open('self/ns/mnt', os.O_RDONLY, dir_fd=proc), NEWNS)
with open(os.open('self/mountinfo', os.O_RDONLY, dir_fd=proc)) as mounts:
    for line in mounts:
        words = line.split()
        print(words[4], words[words.index('-') + 1])
print('processes', sum(name.isdigit() for name in os.listdir('/proc')))
print('links', len(os.listdir('/sys/class/net')))
