"""Takes as many of one thing as it gets, at most so many, prints how many, and keeps them for so many seconds.

With a path it makes that file once it has them, and keeps them no longer than the file is there.
"""
import ctypes, os, signal, sys, time

libc = ctypes.CDLL(None, use_errno=True)
kind, most, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
sign = sys.argv[4] if len(sys.argv) > 4 else None
children = []
TIMER_CREATE, IO_SETUP = 222, 206


def inotify(_):
    return libc.inotify_init() >= 0


def queue(number):
    return libc.mq_open(b"/taken-%d-%d" % (os.getpid(), number), os.O_CREAT | os.O_RDWR, 0o600, None) >= 0


def timer(_):
    return libc.syscall(TIMER_CREATE, 1, None, ctypes.byref(ctypes.c_int())) == 0


def aio(_):
    return libc.syscall(IO_SETUP, 100, ctypes.byref(ctypes.c_ulong())) == 0


def file(_):
    try:
        return os.open("/dev/null", os.O_RDONLY) >= 0
    except OSError:
        return False


def process(_):
    try:
        child = os.fork()
        if child == 0:
            time.sleep(seconds)
            os._exit(0)
        children.append(child)
        return True
    except OSError:
        return False


taken = 0
while taken < most and globals()[kind](taken):
    taken += 1
print(taken, flush=True)
if sign:
    # A link takes no descriptor: none may be left.
    os.link(__file__, sign)
deadline = time.monotonic() + seconds
while time.monotonic() < deadline and (sign is None or os.path.exists(sign)):
    time.sleep(min(0.05, max(0, deadline - time.monotonic())))
for child in children:
    os.kill(child, signal.SIGKILL)
for number in range(taken if kind == "queue" else 0):
    libc.mq_unlink(b"/taken-%d-%d" % (os.getpid(), number))
