"""Parts of paths that others have named."""

from __future__ import annotations

from urllib.parse import quote


def segment(text: str) -> str:
    """Stays one part of a path, whatever is in it; dots alone would lead upwards."""
    escaped = quote(text, safe="", errors="replace")
    return escaped.replace(".", "%2E") if escaped in (".", "..") else escaped
