"""Prints, as JSON, what the host's root may do with devices once it is in the cgroups whose folders are given."""
import ctypes, json, os, stat, sys

KINDS = {'c': stat.S_IFCHR, 'b': stat.S_IFBLK}
ACCESS = {'r': os.O_RDONLY, 'w': os.O_WRONLY, 'rw': os.O_RDWR}
USED = '''c 1:3 rw|c 1:5 rw|c 1:7 r|c 1:8 r|c 1:9 r|c 5:0 rw|c 5:2 rw|c 136:0 rw|c 136:77 rw|
    c 1:11 r|c 5:1 w|c 4:0 w|c 10:200 rw|c 10:229 rw|c 10:237 rw|b 1:3 r|b 7:0 r|b 7:0 rw'''
MADE = 'c 1:3|c 1:11|b 7:0|c 0:0'
CLONE_NEWNS, MS_PRIVATE_REC = 0x20000, 0x44000
FOLDER = b'/run'
libc = ctypes.CDLL(None, use_errno=True)


def numbers(kind, device):
    major, minor = device.split(':')
    return KINDS[kind] | 0o600, os.makedev(int(major), int(minor))


def refused(call, *arguments):
    """By its rights alone: that a device is not there, or not ready, is another answer."""
    try:
        call(*arguments)
    except PermissionError:
        return True
    except OSError:
        pass
    return False


def use(path, access):
    os.close(os.open(path, ACCESS[access] | os.O_NONBLOCK | os.O_NOCTTY))


def make(path, mode, device):
    os.mknod(path, mode, device)
    os.unlink(path)


# Its nodes lie in memory of its own, which ends with it.
assert libc.unshare(CLONE_NEWNS) == 0
assert libc.mount(b'none', b'/', None, MS_PRIVATE_REC, None) == 0
assert libc.mount(b'tmpfs', FOLDER, b'tmpfs', 0, None) == 0
os.chdir(FOLDER)
asked = [line.split() for line in USED.split('|')]
for index, (kind, device, _) in enumerate(asked):
    os.mknod(f'node{index}', *numbers(kind, device))
for group in sys.argv[1:]:
    with open(f'{group}/cgroup.procs', 'w') as procs:
        procs.write('0')
answers = {f'{kind} {device} {access}': refused(use, f'node{index}', access)
           for index, (kind, device, access) in enumerate(asked)}
answers |= {f'{line} m': refused(make, 'made', *numbers(*line.split())) for line in MADE.split('|')}
json.dump({'allowed': sorted(key for key in answers if not answers[key]),
           'refused': sorted(key for key in answers if answers[key])}, sys.stdout)
