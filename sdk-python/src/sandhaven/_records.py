"""Results of calls that are not tools."""

from __future__ import annotations

from typing import Literal, TypedDict


class Upload(TypedDict):
    path: str
    bytes_written: int
    created: bool


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
