"""Paths and queries with names that others have given."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from ._failures import invalid_argument


def segment(text: str) -> str:
    """Encodes any name as one part of a path; dots alone would lead upwards."""
    try:
        escaped = quote(text, safe="")
    except UnicodeEncodeError:
        raise _no_text() from None
    return escaped.replace(".", "%2E") if escaped in (".", "..") else escaped


def query_of(values: Mapping[str, str]) -> str:
    try:
        return urlencode(values)
    except UnicodeEncodeError:
        raise _no_text() from None


def _no_text() -> Exception:
    # Another character in its place would name another file.
    return invalid_argument("path", "The name has half of a surrogate pair.", "Give text that UTF-8 can hold.")
