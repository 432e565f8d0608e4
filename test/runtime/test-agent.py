#!/usr/bin/python3
"""A stand-in for the agent: runs one shell script per connection. The script arrives as a JSON string on a line."""
import json
import os
import signal
import socket
import subprocess
import threading


def on_term(*_):
    if not os.path.exists("/root/stubborn"):
        os._exit(0)


signal.signal(signal.SIGTERM, on_term)
listener = socket.socket(fileno=3)
# The main thread runs the handler, but another may get the signal: it wakes up now and then to look.
listener.settimeout(0.05)


def serve(connection):
    with connection, connection.makefile("rwb") as stream:
        script = json.loads(stream.readline())
        done = subprocess.run(
            ["/bin/sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        output = done.stdout.decode("utf8", "replace")
        stream.write(json.dumps({"exitCode": done.returncode, "output": output}).encode() + b"\n")


while True:
    try:
        accepted, _ = listener.accept()
    except TimeoutError:
        continue
    threading.Thread(target=serve, args=(accepted,)).start()
