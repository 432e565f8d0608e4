"""Output of a program while it runs, for the listeners of a call: the same for both clients."""

from __future__ import annotations

import base64
import codecs
from collections.abc import Awaitable, Callable, Generator, Iterator
from inspect import isawaitable
from typing import Literal, NamedTuple

from ._bodies import parse_json
from ._failures import foreign_answer


class OutputPiece(NamedTuple):
    """Output of a program on one of its streams."""

    stream: Literal["stdout", "stderr"]
    data: bytes
    """As the program wrote them; a piece may end within a character."""
    left_out_bytes: int
    """Bytes that are missing before these.

    A session's command does not wait for those who watch it, and old output of a process is forgotten while nobody
    follows it.
    """


OnBytes = Callable[[OutputPiece], object]
"""Receives pieces, byte for byte and in the order of the writes."""
OnOutput = Callable[[str, int], object]
"""Receives text in whole characters, and the number of bytes that are missing before it."""


class Output:
    """Decodes events, and selects their listeners."""

    def __init__(self, on_bytes: OnBytes | None, on_stdout: OnOutput | None, on_stderr: OnOutput | None) -> None:
        self._on_bytes = on_bytes
        self._on_text = {"stdout": on_stdout, "stderr": on_stderr}
        new = codecs.getincrementaldecoder("utf-8")
        self._decoders = {"stdout": new("replace"), "stderr": new("replace")}

    @property
    def listens(self) -> bool:
        return self._on_bytes is not None or any(self._on_text.values())

    def of(self, piece: OutputPiece) -> Iterator[object]:
        """Calls the listeners of one piece in turn, and yields their results."""
        if self._on_bytes is not None:
            yield self._on_bytes(piece)
        yield from self._say(piece.stream, self._decoders[piece.stream].decode(piece.data), piece.left_out_bytes)

    def rest(self) -> Iterator[object]:
        """The same for streams that ended in the middle of a character."""
        for stream, decoder in self._decoders.items():
            yield from self._say(stream, decoder.decode(b"", True), 0)

    def _say(self, stream: str, text: str, left_out_bytes: int) -> Iterator[object]:
        listener = self._on_text[stream]
        if listener is not None and (text or left_out_bytes):
            yield listener(text, left_out_bytes)


class Heard(Awaitable[None]):
    """The result of a listener, which asyncio awaits before more is read."""

    def __init__(self, returned: object) -> None:
        self._returned = returned

    def __await__(self) -> Generator[object, None, None]:
        if isawaitable(self._returned):
            yield from self._returned.__await__()


def piece_of(data: bytes) -> OutputPiece | None:
    """None for an event that no service sends."""
    value = parse_json(data)
    if not isinstance(value, dict):
        raise foreign_answer(200)
    stream, encoded = value.get("stream"), value.get("base64")
    # An earlier service sends text.
    text, left_out_bytes = value.get("text", ""), value.get("left_out_bytes", 0)
    if stream not in ("stdout", "stderr") or not isinstance(text, str) or not isinstance(left_out_bytes, int):
        return None
    if encoded is None:
        return OutputPiece(stream, text.encode("utf-8", "replace"), left_out_bytes)
    try:
        return OutputPiece(stream, base64.b64decode(encoded, validate=True), left_out_bytes)
    except (TypeError, ValueError):
        return None
