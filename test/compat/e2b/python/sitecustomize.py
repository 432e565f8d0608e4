"""Lets this process find the names of a test's domain, which no name server knows, on the loopback."""

import socket

lookup = socket.getaddrinfo


def getaddrinfo(host, *args, **kwargs):
    name = host.decode() if isinstance(host, bytes) else str(host)
    return lookup("127.0.0.1" if name.endswith(".localhost") else host, *args, **kwargs)


socket.getaddrinfo = getaddrinfo
