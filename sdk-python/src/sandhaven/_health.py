"""Health of the service, as the action GetHealth gives it, and the stream of changes with health."""

from __future__ import annotations

from typing import Literal, TypedDict


class HealthCapacity(TypedDict):
    free_memory_bytes: int
    reserve_memory_bytes: int
    free_disk_bytes: int
    reserve_disk_bytes: int
    free_slots: int
    gpus: int
    free_gpus: int


class HealthSandboxes(TypedDict):
    total: int
    started: int
    paused: int


class HealthPool(TypedDict):
    """Of warm sandboxes: those that are ready, and the bounds of their number."""

    ready: int
    min: int
    max: int


class HealthSample(TypedDict):
    time: str
    free_memory_bytes: int
    free_disk_bytes: int
    resident_bytes: int
    """Memory of the service itself."""
    loop_delay_ms: float
    """Delay of the event loop, 99th percentile."""


class DoctorFinding(TypedDict):
    name: str
    status: Literal["ok", "warn", "fail"]
    found: str
    advice: str | None


class DoctorReport(TypedDict):
    checked_at: str
    findings: list[DoctorFinding]


class ServiceHealth(TypedDict):
    capacity: HealthCapacity
    sandboxes: HealthSandboxes
    pool: HealthPool
    samples: list[HealthSample]
    """Of the last half hour, oldest first; the last one is of this moment."""
    doctor: DoctorReport | None
    """None where nothing can examine the host; in the stream also before the first findings."""
