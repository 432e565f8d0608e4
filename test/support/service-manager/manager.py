"""Acts for systemd where none runs: starts a service, hears it (sd_notify(3)), keeps its sockets for its next start.

Arguments: the path of its socket, then the program with its arguments. Lines on standard input: start, or stop, which is
SIGTERM. Lines of JSON on standard output: {"said": message}, {"ended": status}.
"""

import json
import os
import select
import signal
import socket
import sys

FIRST_FILE = 3


def tell(**what):
    print(json.dumps(what), flush=True)


def start(program, path, kept):
    child = os.fork()
    if child:
        return child
    # Beyond the places of the sockets first, since one may lie where another belongs.
    files = [os.dup2(file, 100 + at, inheritable=False) for at, file in enumerate(kept.values())]
    for at, file in enumerate(files):
        os.dup2(file, FIRST_FILE + at)
    os.closerange(FIRST_FILE + len(files), 1_000)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    given = {"LISTEN_FDS": str(len(kept)), "LISTEN_FDNAMES": ":".join(kept), "LISTEN_PID": str(os.getpid())}
    os.execve(program[0], program, {**os.environ, "NOTIFY_SOCKET": path, **(given if kept else {})})


def hear(listener, kept):
    message, control, _, _ = socket.recv_fds(listener, 4096, 4)
    said = dict(line.split("=", 1) for line in message.decode().split("\n"))
    if said.get("FDSTORE") and control:
        if said["FDNAME"] in kept:
            os.close(control[0])
        else:
            kept[said["FDNAME"]] = control[0]
    if said.get("FDSTOREREMOVE"):
        os.close(kept.pop(said["FDNAME"]))
    tell(said=message.decode())


def main(path, *program):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(path)
    kept, child = {}, None
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [], 0.01)
        if listener in ready:
            hear(listener, kept)
        if sys.stdin in ready:
            order = sys.stdin.readline().strip()
            if order == "start":
                child = start(list(program), path, kept)
            elif order == "stop" and child:
                os.kill(child, signal.SIGTERM)
            elif not order:
                return
        if child:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                child = None
                tell(ended=os.waitstatus_to_exitcode(status))


main(*sys.argv[1:])
