"""Pieces of an upload."""

from __future__ import annotations

from ._failures import invalid_argument

PIECE_BYTES = 256 * 1024


def text_bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise invalid_argument("content", "The text has half of a surrogate pair.", "Give bytes.") from None


def no_content() -> Exception:
    return invalid_argument(
        "content", "The content gives no bytes.", "Give text, bytes, a file or an iterable of bytes."
    )


def checked(piece: object) -> bytes:
    if not isinstance(piece, (bytes, bytearray, memoryview)):
        raise invalid_argument("content", "The content gives no bytes.", 'Open a file with mode "rb".')
    return bytes(piece)
