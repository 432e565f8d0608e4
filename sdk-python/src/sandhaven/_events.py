"""Parses server-sent events: the part of the format that the service sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ._bodies import Collected


class ServerEvent(NamedTuple):
    event: str
    data: bytes


class EventReader:
    """Takes the bytes of a stream as they come, in pieces of any size."""

    def __init__(self, max_event_bytes: int) -> None:
        # A large result is one line in many pieces, joined once.
        self._unfinished = Collected(max_event_bytes)
        self._fields: dict[str, bytes] = {}

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """Gives each event that this piece ends; skips comments, which keep the connection alive."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._unfinished.add(part)
            line = self._unfinished.take()
            if line:
                self._note(line)
                continue
            fields, self._fields = self._fields, {}
            if "data" in fields:
                yield ServerEvent(fields.get("event", b"message").decode("utf-8", "replace"), fields["data"])
        self._unfinished.add(rest)

    def _note(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name in (b"event", b"data"):
            self._fields[name.decode()] = value.lstrip()
