"""Takes as many of one thing as it gets, at most so many, prints how many, and keeps them for so many seconds."""
import ctypes, os, sys, time

libc = ctypes.CDLL(None, use_errno=True)
kind, most, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
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
        if os.fork() == 0:
            time.sleep(seconds)
            os._exit(0)
        return True
    except OSError:
        return False


taken = 0
while taken < most and globals()[kind](taken):
    taken += 1
print(taken, flush=True)
time.sleep(seconds)
for number in range(taken if kind == "queue" else 0):
    libc.mq_unlink(b"/taken-%d-%d" % (os.getpid(), number))
