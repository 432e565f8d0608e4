"""Bytes to upload, piece by piece, so that a file of any size takes little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Union

from .._pieces import PIECE_BYTES, checked

Content = Union[str, bytes, bytearray, memoryview, BinaryIO, Iterable[bytes]]


def sendable(content: Content) -> bytes | Iterator[bytes]:
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    return _pieces(content)


def _pieces(content: BinaryIO | Iterable[bytes]) -> Iterator[bytes]:
    if hasattr(content, "read"):
        while piece := content.read(PIECE_BYTES):
            yield checked(piece)
    else:
        for piece in content:
            yield checked(piece)
