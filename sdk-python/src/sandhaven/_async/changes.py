"""Follows changes of the caller's sandboxes."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from .._follow import Choices, SandboxChange, change_of, route_of
from .connection import AsyncConnection
from .reconnecting import read_reconnecting


def changes_of(connection: AsyncConnection, choices: Choices) -> AsyncGenerator[SandboxChange, None]:
    """Raises SandhavenError when another attempt makes no sense, such as with a key that is not valid."""
    path = route_of(choices)
    return read_reconnecting(connection, lambda: path, change_of)
