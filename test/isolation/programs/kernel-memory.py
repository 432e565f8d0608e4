"""Fills the host's memory with what the kernel counts for nobody. Says `kept going` when nothing ended it."""
import fcntl, socket, struct, sys, time

deadline = time.time() + 10


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


keep = globals()[sys.argv[1]]()
time.sleep(2)
print("kept going", len(keep))
