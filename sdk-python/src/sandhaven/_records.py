"""Results of calls that are not tools."""

from __future__ import annotations

from typing import Literal, TypedDict


class Upload(TypedDict):
    path: str
    bytes_written: int
    created: bool


class _FileEntryRequired(TypedDict):
    path: str
    """Below the path that was asked for; empty for that itself."""
    type: Literal["file", "dir", "symlink", "other"]
    size: int
    mode: str
    """Four octal digits."""
    owner: str
    group: str
    uid: int
    gid: int
    modified_time: str
    metadata: dict[str, str]


class FileEntry(_FileEntryRequired, total=False):
    target: str
    """Of a link."""


class FileDetails(TypedDict):
    entries: list[FileEntry]
    """Sorted by path."""
    total_count: int


class ChangedFile(TypedDict):
    path: str
    changed: Literal[True]


class DeletedSession(TypedDict):
    session_id: str
    deleted: Literal[True]


class RevokedAccess(TypedDict):
    sandbox: str
    """Sandbox ID."""
    ssh: int
    """Number of SSH tokens that had not expired."""
    previews: int
    """Number of signed URLs that had not expired."""
    revoked: Literal[True]


class DeletedSnapshot(TypedDict):
    id: str
    name: str
    deleted: Literal[True]
