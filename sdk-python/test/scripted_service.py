"""A service that answers as a test has scripted it, one answer a request, and remembers what it was asked."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: str


class Exchange(BaseHTTPRequestHandler):
    """One request with its connection; answers write to it."""

    protocol_version = "HTTP/1.1"
    service: ScriptedService

    def serve(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self._body()
        self.service.asked.append(Asked(self.command, self.path, headers, body.decode("utf-8", "replace")))
        answer = self.service.next_answer()
        try:
            answer(self)
        except OSError:
            # The client has left, as some tests want it to.
            self.close_connection = True

    do_GET = do_POST = do_PUT = serve

    def start(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def whole(self, status: int, kind: str, body: bytes) -> None:
        self.start(status, content_type=kind, content_length=str(len(body)))
        self.wfile.write(body)

    def piece(self, data: bytes) -> None:
        """A chunk of a body without a length."""
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def drop(self) -> None:
        """The connection breaks."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def wait_until_left(self) -> None:
        while self.connection.recv(4096):
            pass
        self.close_connection = True
        self.service.left.set()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            piece = self.rfile.read(size)
            if not self.service.discards_bodies:
                pieces.append(piece)
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)


Answer = Callable[[Exchange], None]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class ScriptedService:
    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.left = threading.Event()
        self.discards_bodies = False
        self._answers: list[Answer] = []
        self._server = _Server(("127.0.0.1", 0), type("OwnExchange", (Exchange,), {"service": self}))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=lambda: self._server.serve_forever(poll_interval=0.02), daemon=True).start()

    def answers(self, *answers: Answer) -> None:
        """In order; a request too many is answered with status 500 and no problem."""
        self._answers.extend(answers)

    def next_answer(self) -> Answer:
        return self._answers.pop(0) if self._answers else foreign(500, b"nothing is scripted")

    def bodies(self) -> list[Any]:
        return [json.loads(body) for _, _, _, body in self.asked]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def result(body: object) -> Answer:
    return lambda exchange: exchange.whole(200, "application/json", json.dumps(body).encode())


def foreign(status: int, body: bytes, kind: str = "text/html") -> Answer:
    return lambda exchange: exchange.whole(status, kind, body)


def problem(code: str, status: int, **more: object) -> Answer:
    own = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": f"It is {code}."}
    body = {"retryable": False, "request_id": "req_1", **own, **more}
    return foreign(status, json.dumps(body).encode(), "application/problem+json")


unavailable = problem("unavailable", 503, retryable=True)


def broken(exchange: Exchange) -> None:
    """The connection breaks without an answer."""
    exchange.drop()


def silent(exchange: Exchange) -> None:
    """Never answers."""
    exchange.wait_until_left()


def events(*pieces: str, then: Callable[[Exchange], None] | None = None) -> Answer:
    """Pieces of a stream of events, each sent by itself."""

    def answer(exchange: Exchange) -> None:
        exchange.start(200, content_type="text/event-stream; charset=utf-8", transfer_encoding="chunked")
        for piece in pieces:
            exchange.piece(piece.encode())
        if then is not None:
            then(exchange)
        exchange.wfile.write(b"0\r\n\r\n")

    return answer
