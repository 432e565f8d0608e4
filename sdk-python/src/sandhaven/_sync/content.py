"""Bytes to upload, piece by piece, so that a file of any size takes little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Union

from .._pieces import PIECE_BYTES, checked, no_content, text_bytes

Content = Union[str, bytes, bytearray, memoryview, BinaryIO, Iterable[bytes]]


def sendable(content: Content) -> bytes | Iterator[bytes]:
    if isinstance(content, str):
        return text_bytes(content)
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    is_readable = hasattr(content, "read") or isinstance(content, Iterable)
    if not is_readable:
        raise no_content()
    return _pieces(content)


def _pieces(content: BinaryIO | Iterable[bytes]) -> Iterator[bytes]:
    if hasattr(content, "read"):
        while piece := content.read(PIECE_BYTES):
            yield checked(piece)
    else:
        for piece in content:
            yield checked(piece)
