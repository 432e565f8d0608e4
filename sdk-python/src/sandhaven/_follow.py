"""Changes of the caller's sandboxes as the stream gives them, and the rules of connecting again."""

from __future__ import annotations

import random
import urllib.parse
from collections.abc import Mapping
from typing import Literal, TypedDict, Union, cast

from ._bodies import UnreadableError, parse_json
from ._error import SandhavenError
from ._events import ServerEvent
from ._generated.types import GetSandboxResult, GetSnapshotResult
from ._health import ServiceHealth

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 15.0
SILENCE_SECONDS = 45.0
"""The service sends something every 15 s, so a longer silence is a connection that is gone."""
MAX_EVENT_BYTES = 16 * 1024 * 1024


class Refresh(TypedDict):
    """Changes may have been missed: list sandboxes, snapshots and audit rows again. Also the first of all."""

    type: Literal["refresh"]


class SandboxChanged(TypedDict):
    type: Literal["sandbox"]
    sandbox: GetSandboxResult


class SandboxDeleted(TypedDict):
    type: Literal["deleted"]
    id: str


class SnapshotChanged(TypedDict):
    """A snapshot was made or changed; only with snapshots."""

    type: Literal["snapshot"]
    snapshot: GetSnapshotResult


class SnapshotDeleted(TypedDict):
    type: Literal["snapshot_deleted"]
    id: str


class SnapshotProgress(TypedDict):
    """Progress of a snapshot that is being made; None: not known."""

    type: Literal["snapshot_progress"]
    id: str
    message: str
    done_bytes: int | None
    total_bytes: int | None


class CpuUsage(TypedDict):
    """Processors in use on average since the sample before, and their part of the limit; None: not known yet."""

    cores: float | None
    limit: float
    percent: float | None


class ByteUsage(TypedDict):
    bytes: int | None
    limit_bytes: int


class SandboxUsage(TypedDict):
    id: str
    cpu: CpuUsage
    memory: ByteUsage
    disk: ByteUsage


class Usage(TypedDict):
    """Use of started sandboxes, every few seconds; only with usage."""

    type: Literal["usage"]
    sandboxes: list[SandboxUsage]


class AuditLogRow(TypedDict):
    """A row as the action ListAudit gives it."""

    sequence: int
    time: str
    action: str
    outcome: str
    duration_ms: float
    user_id: str | None
    key_id: str | None
    team_id: str | None
    made_by: str | None
    sandbox_id: str | None
    transport: str
    client_address: str | None
    request_id: str | None
    count: int | None
    hash: str


class AuditRows(TypedDict):
    """New rows of the audit log, oldest first; only with audit."""

    type: Literal["audit"]
    rows: list[AuditLogRow]


class AuditMissed(TypedDict):
    """Too many rows came at once, or they could not be read: list them."""

    type: Literal["audit_missed"]


class NetworkLogEvent(TypedDict):
    """An event as the action GetNetworkLog gives it; ended is the end of an allowed connection, with its bytes."""

    sequence: int
    time: str
    kind: str
    name: str | None
    address: str | None
    port: int | None
    allowed: bool
    rule: str | None
    why: str | None
    ended: bool
    sent: int
    received: int


class NetworkLogPiece(TypedDict):
    """New events of the network log of one sandbox, and the number of lost ones; only with network."""

    type: Literal["network"]
    sandbox: str
    events: list[NetworkLogEvent]
    dropped: int


class Health(TypedDict):
    """Health of the service, every few seconds; only with health."""

    type: Literal["health"]
    health: ServiceHealth


SandboxChange = Union[
    Refresh,
    SandboxChanged,
    SandboxDeleted,
    SnapshotChanged,
    SnapshotDeleted,
    SnapshotProgress,
    Usage,
    AuditRows,
    AuditMissed,
    NetworkLogPiece,
    Health,
]

Choices = Mapping[str, Union[bool, str, None]]
"""Options of the stream: a flag or a text each."""

_WHOLE = {"sandbox": "sandbox", "snapshot": "snapshot", "health": "health"}
_SPREAD = {
    "sandbox_deleted": "deleted",
    "snapshot_deleted": "snapshot_deleted",
    "snapshot_progress": "snapshot_progress",
    "audit": "audit",
    "network": "network",
    "usage": "usage",
}


def route_of(choices: Choices) -> str:
    wanted = {name: "true" if value is True else value for name, value in choices.items() if value}
    return f"/v1/events?{urllib.parse.urlencode(wanted)}" if wanted else "/v1/events"


def change_of(event: ServerEvent) -> SandboxChange | None:
    """Returns None for events of a newer service."""
    name = event.event
    if name in ("ready", "refresh"):
        return {"type": "refresh"}
    if name == "audit_missed":
        return {"type": "audit_missed"}
    if name not in _WHOLE and name not in _SPREAD:
        return None
    value = parse_json(event.data)
    if not isinstance(value, dict):
        raise UnreadableError("an event holds no object")
    change = {"type": name, _WHOLE[name]: value} if name in _WHOLE else {**value, "type": _SPREAD[name]}
    return cast(SandboxChange, change)


def is_transient(error: SandhavenError) -> bool:
    return error.retryable or error.code == "timeout"


def pause_seconds(failures: int) -> float:
    longest = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(failures, 10), _LONGEST_PAUSE_SECONDS)
    return longest * (0.5 + random.random() / 2)
