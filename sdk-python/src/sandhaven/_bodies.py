"""Reads JSON of other parties, within bounds."""

from __future__ import annotations

import json
from typing import NoReturn

MAX_RESULT_BYTES = 256 * 1024 * 1024
"""Most bytes of one result: a file of 16 MiB takes at most 96 MiB of JSON."""
MAX_PROBLEM_BYTES = 1024 * 1024
"""Most bytes of the answer to a refused call."""


class UnreadableError(Exception):
    """Bytes that are not JSON, or over the bound."""


class Collected:
    """Pieces of one body, joined once; more than the bound are refused before they are kept."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._length = 0

    def add(self, piece: bytes) -> None:
        self._length += len(piece)
        if self._length > self._max_bytes:
            raise UnreadableError(f"more than {self._max_bytes} bytes came")
        self._pieces.append(piece)

    def take(self) -> bytes:
        whole = b"".join(self._pieces)
        self._pieces, self._length = [], 0
        return whole


def parse_json(data: bytes) -> object:
    try:
        parsed: object = json.loads(data, parse_constant=_refuse)
        return parsed
    except (ValueError, RecursionError) as error:
        # The message alone: the error itself holds all of the document.
        raise UnreadableError(f"no JSON came: {type(error).__name__}") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
