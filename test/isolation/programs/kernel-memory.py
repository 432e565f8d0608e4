"""Makes as many objects of the kernel as it can. Says `kept going` when nothing ended it."""
import ctypes, fcntl, itertools, mmap, os, platform, resource, signal, socket, struct, sys, tempfile, termios, time

libc = ctypes.CDLL(None, use_errno=True)

# What is made at once stays until it has been noticed.
SLOWLY_NOTICED = ["flocks", "leases", "files"]
# The kernel stops them within the first second. A look at them, each second, must not end them.
HELD_BY_THE_KERNEL = ["connections", "datagrams"]
deadline = time.time() + (20 if sys.argv[1] in SLOWLY_NOTICED else 3 if sys.argv[1] in HELD_BY_THE_KERNEL else 10)


def over():
    return time.time() > deadline


def netlink():
    request = struct.pack("IHHII", 1516, 19, 5, 1, 0) + bytes(1500)
    held = []
    while not over():
        queue = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        queue.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        queue.setblocking(False)
        held.append(queue)
        for _ in range(400):
            queue.send(request * 20)
        if len(held) == 400:
            break
    return held


def connections():
    held, data = [], bytes(1 << 20)
    for _ in range(50):
        server = socket.create_server(("127.0.0.1", 0))
        client = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
        for end in (client, peer):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 24)
            end.setblocking(False)
        held += [server, client, peer]
    while not over():
        for end in held:
            try:
                end.send(data)
            except OSError:
                pass
    return held


def unaccepted():
    held, data = [], bytes(1 << 16)
    while not over():
        server = socket.create_server(("127.0.0.1", 0), backlog=4096)
        held.append(server)
        for _ in range(1000):
            client = socket.create_connection(server.getsockname(), 5)
            client.setblocking(False)
            try:
                while True:
                    client.send(data)
            except OSError:
                client.close()
    return held


def datagrams():
    held = []
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while not over():
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        receiver.bind(("127.0.0.1", 0))
        held.append(receiver)
        for _ in range(2000):
            sender.sendto(b"x", receiver.getsockname())
    return held


def locks():
    held = []
    while not over():
        file = open(f"/workspace/lock-{len(held)}", "w")
        held.append(file)
        for i in range(700):
            fcntl.lockf(file, fcntl.LOCK_EX, 1, (700 - i) * 2)
    return held


def dead():
    """Locks whose process is gone: another shares its descriptors."""
    clone, CLONE_FILES = {"x86_64": 56, "aarch64": 220}[platform.machine()], 0x400
    held = []
    while not over():
        file = open(f"/workspace/lock-{len(held)}", "w")
        held.append(file)
        child = libc.syscall(clone, CLONE_FILES | signal.SIGCHLD, 0, 0, 0, 0)
        if child == 0:
            for i in range(700):
                fcntl.lockf(file, fcntl.LOCK_EX, 1, (700 - i) * 2)
            os._exit(0)
        os.waitpid(child, 0)
    return held


def lock_open_file(file, kind):
    """Locks that stay with the open file, whoever has it."""
    F_OFD_SETLK = 37
    for i in range(700):
        fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, (700 - i) * 2, 1, 0))


def sent():
    """Locks of open files whose maker has sent them to this process, and is gone."""
    held, (here, there) = [], socket.socketpair()
    while not over():
        if os.fork() == 0:
            with open(f"/workspace/lock-{len(held)}", "w") as file:
                lock_open_file(file, fcntl.F_WRLCK)
                socket.send_fds(there, [b"x"], [file.fileno()])
            os._exit(0)
        held += socket.recv_fds(here, 1, 1)[1]
        os.wait()
    return held


def alike():
    """Locks of open files that look the same in every process: of one place, at one number."""
    PR_SET_PDEATHSIG, held = 1, []
    names = [f"/workspace/lock-{i}" for i in range(16)]
    while not over():
        child = os.fork()
        if child == 0:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            for name in names:
                lock_open_file(os.open(name, os.O_RDWR | os.O_CREAT), fcntl.F_RDLCK)
            time.sleep(60)
        held.append(child)
        time.sleep(0.2)
    return held


def memory_locked():
    memory = os.memfd_create("memory")
    os.truncate(memory, 4096)
    lock_open_file(memory, fcntl.F_WRLCK)
    return memory


def mapped():
    """Locks of open files that nothing but a mapping keeps open."""
    libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    held = []
    while not over():
        memory = memory_locked()
        held.append(libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, memory, 0))
        os.close(memory)
    return held


def unreceived():
    """Locks of open files that nothing but a message keeps open."""
    held = []
    while not over():
        memory, ends = memory_locked(), socket.socketpair()
        socket.send_fds(ends[0], [b"x"], [memory])
        os.close(memory)
        held.append(ends)
    return held


def spread(count, make):
    """In so many processes at once, since each has a number of open files; they end with this one."""
    PR_SET_PDEATHSIG, (ready, done) = 1, os.pipe()
    files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 20_000) - 100

    def hold():
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            held = [make() for _ in range(files)]
        finally:
            os.write(done, b"x")
        time.sleep(60)
        return held

    for _ in range(count):
        if os.fork() == 0:
            hold()
            os._exit(0)
    for _ in range(count):
        os.read(ready, 1)
    return range(count * files)


def opened_and(act):
    """On many files, since the kernel keeps one list for each."""
    made = itertools.count()

    def make():
        name = f"/workspace/lock-{next(made) // 500}"
        file = os.open(name, os.O_RDONLY | os.O_CREAT)
        act(file)
        return file

    return spread(3, make)


def flocks():
    return opened_and(lambda file: fcntl.flock(file, fcntl.LOCK_SH))


def leases():
    return opened_and(lambda file: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK))


def files():
    """Timers, behind which is more that nobody is charged for than behind any others."""
    return spread(40, lambda: libc.timerfd_create(1, 0))


def eventfds():
    return spread(10, lambda: os.eventfd(0))


def pipes():
    """Beyond the first ones of a user, each has room for two pages."""
    ends = []

    def make():
        if not ends:
            ends.extend(os.pipe())
            os.set_blocking(ends[1], False)
            os.write(ends[1], bytes(8_192))
        return ends.pop()

    return spread(3, make)


def locally():
    held = []
    while len(held) < 1_500:
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ends[0].setblocking(False)
        held.append(ends)
        try:
            while True:
                ends[0].send(bytes(1 << 16))
        except OSError:
            pass
    return held


def memory():
    held = [open("/dev/shm/large", "wb"), os.fdopen(os.memfd_create("large"), "wb")]
    for file in held:
        for _ in range(200):
            file.write(bytes(1 << 20))
    os.unlink("/dev/shm/large")
    return held


def terminals():
    held = []
    try:
        while True:
            held.append(os.openpty())
    except OSError:
        pass
    for ends in held:
        for end in ends:
            modes = termios.tcgetattr(end)
            modes[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(end, termios.TCSANOW, modes)
            os.set_blocking(end, False)
        for end in ends:
            try:
                while True:
                    os.write(end, bytes(4_096))
            except OSError:
                pass
    return held


def tables():
    """One page table for each 2 MiB that is read, and no page but the one of zeros."""
    size = 80 << 30
    space = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_NORESERVE)
    space.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, size, 2 << 20):
        space[at]
    return [space]


def watches():
    """Inotify, on folders in memory."""
    IN_CREATE, held, folder = 0x100, [libc.inotify_init()], tempfile.mkdtemp(dir="/dev/shm")
    for i in range(60_000):
        name = f"{folder}/{i}"
        os.mkdir(name)
        libc.inotify_add_watch(held[0], name.encode(), IN_CREATE)
    return held


def attributes():
    for folder, files, size in [("/dev/shm", 2_000, 60_000), ("/workspace", 8_000, 3_000)]:
        for i in range(files):
            name = f"{folder}/attributes-{i}"
            open(name, "w").close()
            os.setxattr(name, "user.large", os.urandom(8) + bytes(size))
    return range(files)


def names():
    """Files, and names that were looked for and are not there."""
    for i in range(5_000):
        open(f"/workspace/file-{i}", "w").close()
    for i in range(200_000):
        os.path.exists(f"/workspace/none-{i}")
    return range(205_000)


def messages():
    """System V queues, with as much in each as one may have."""
    held = []
    text = ctypes.create_string_buffer(struct.pack("l", 1) + bytes(8_000))
    for _ in range(16_000):
        queue = libc.msgget(0, 0o1600)
        if queue == -1:
            break
        while libc.msgsnd(queue, text, 8_000, 0o4000) == 0:
            pass
        held.append(queue)
        if len(held) * 16_384 > 256 << 20:
            break
    time.sleep(1)
    for queue in held:
        libc.msgctl(queue, 0, None)
    return held


def polled():
    """One descriptor in many sets."""
    read, _ = os.pipe()
    held = []
    for _ in range(60_000):
        try:
            held.append(libc.epoll_create1(0))
        except OSError:
            break
        if held[-1] == -1:
            break
        libc.epoll_ctl(held[-1], 1, read, ctypes.create_string_buffer(12))
    return held


def waiting():
    """Connections that are over, and of which the kernel keeps a note for a minute."""
    servers = [socket.create_server(("127.0.0.1", 0), backlog=128) for _ in range(4)]
    for i in range(17_000):
        server = servers[i % 4]
        client = socket.create_connection(server.getsockname())
        peer, _ = server.accept()
        client.close()
        peer.close()
    with open("/proc/net/sockstat") as counts:
        print(counts.read())
    return servers


keep = globals()[sys.argv[1]]()
time.sleep(max(0.5, deadline - time.time()) if sys.argv[1] in SLOWLY_NOTICED else 0.5)
print("kept going", len(keep))
