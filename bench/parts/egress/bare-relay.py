"""Passes connections on by splice and does nothing else: the least that a byte costs which passes two connections.

bare-relay.py ADDRESS PORT TO_ADDRESS TO_PORT
"""

import os
import socket
import sys
import threading

PIECE = 1 << 16


def serve(client: socket.socket, to: tuple[str, int]) -> None:
    server = socket.create_connection(to)
    for one in (client, server):
        one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    back = threading.Thread(target=pass_on, args=(server, client))
    back.start()
    pass_on(client, server)
    back.join()
    client.close()
    server.close()


def pass_on(source: socket.socket, target: socket.socket) -> None:
    output, entrance = os.pipe()
    try:
        while count := os.splice(source.fileno(), entrance, PIECE):
            while count > 0:
                count -= os.splice(output, target.fileno(), count)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    finally:
        os.close(output)
        os.close(entrance)


listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
destination = (sys.argv[3], int(sys.argv[4]))
while True:
    accepted, _ = listener.accept()
    threading.Thread(target=serve, args=(accepted, destination), daemon=True).start()
