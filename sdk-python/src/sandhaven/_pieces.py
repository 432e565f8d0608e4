"""Pieces of an upload."""

from __future__ import annotations

from ._failures import invalid_argument

PIECE_BYTES = 256 * 1024


def checked(piece: object) -> bytes:
    if not isinstance(piece, (bytes, bytearray, memoryview)):
        raise invalid_argument("content", "The content gives no bytes.", 'Open a file with mode "rb".')
    return bytes(piece)
