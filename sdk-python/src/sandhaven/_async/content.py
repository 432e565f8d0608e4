"""Bytes to upload, piece by piece, so that a file of any size takes little memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import BinaryIO, Union

from .._pieces import PIECE_BYTES, checked, no_content, text_bytes

AsyncContent = Union[str, bytes, bytearray, memoryview, BinaryIO, Iterable[bytes], AsyncIterable[bytes]]


def sendable(content: AsyncContent) -> bytes | AsyncIterator[bytes]:
    if isinstance(content, str):
        return text_bytes(content)
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    is_readable = hasattr(content, "read") or isinstance(content, (Iterable, AsyncIterable))
    if not is_readable:
        raise no_content()
    return _pieces(content)


async def _pieces(content: BinaryIO | Iterable[bytes] | AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    if hasattr(content, "read"):
        # A disk may be slow; the loop goes on meanwhile.
        while piece := await asyncio.to_thread(content.read, PIECE_BYTES):
            yield checked(piece)
    elif isinstance(content, AsyncIterable):
        async for piece in content:
            yield checked(piece)
    else:
        for piece in content:
            yield checked(piece)
