"""Facts about tools, choices of a call, and the rules of retries: the same for both clients."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict, cast

from ._bodies import parse_json
from ._error import SandhavenError
from ._events import ServerEvent
from ._failures import foreign_answer, from_problem, invalid_argument
from ._output import OnBytes, OnOutput

_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 8.0


class ToolFacts(NamedTuple):
    name: str
    repeatable: bool
    """Calling it twice has the same effect as calling it once."""
    long: bool
    """May take over a minute: read as a stream of events."""
    idempotency_key: bool
    """Honours Idempotency-Key."""


class _ProgressRequired(TypedDict):
    message: str


class Progress(_ProgressRequired, total=False):
    """A step of a call that takes long."""

    done: float
    total: float


class _DisplayRequired(TypedDict):
    type: Literal["result", "display"]
    """result: the value of the last expression."""
    data: dict[str, Any]
    """The same in several forms, by media type; pictures in base64."""


class DisplayedResult(_DisplayRequired, total=False):
    """Something that code in a context shows."""

    chart: dict[str, Any]
    """What a matplotlib figure shows."""


OnDisplay = Callable[[DisplayedResult], object]
"""Receives each result of code in a context as it is shown."""
OnProgress = Callable[[Progress], object]
"""Receives the steps of calls that may take long."""


class CallOptions(NamedTuple):
    call_timeout_seconds: float | None = None
    max_retries: int | None = None
    on_progress: OnProgress | None = None
    on_output: OnBytes | None = None
    on_stdout: OnOutput | None = None
    on_stderr: OnOutput | None = None
    on_display: OnDisplay | None = None
    idempotency_key: str | None = None


def given(parameters: Mapping[str, object]) -> dict[str, object]:
    """Drops parameters that were left out."""
    return {name: value for name, value in parameters.items() if value is not None}


def key_of(tool: ToolFacts, options: CallOptions) -> str | None:
    """Returns one key for all attempts of a call, for tools that honour it."""
    if not tool.idempotency_key:
        return None
    key = options.idempotency_key
    if key is None:
        return secrets.token_hex(16)
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise invalid_argument("idempotency_key", "The key is not an ASCII word.", "Give letters and digits.")
    return key


def may_repeat(error: SandhavenError, is_repeatable: bool) -> bool:
    """A call over the rate of its key did nothing, so even one that must not run twice may be sent again."""
    refused_at_the_door = error.code == "resource_exhausted" and error.retry_after_seconds is not None
    return error.retryable and (is_repeatable or refused_at_the_door)


def pause_seconds(sent: int, retry_after_seconds: float | None) -> float:
    """Doubles each time, never below the requested pause, with jitter, so that many clients do not return at once."""
    # The exponent is bounded, since a caller may allow any number of retries.
    longest = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(sent, 10), _LONGEST_PAUSE_SECONDS)
    own = longest * (0.5 + random.random() / 2)
    return max(own, (retry_after_seconds or 0) + own / 4)


def settle(event: ServerEvent, options: CallOptions) -> dict[str, object] | None:
    """Returns the result that an event brings, raises its error, or hands progress to its listener."""
    if event.event not in ("result", "error", "progress", "display"):
        return None
    value = parse_json(event.data)
    if event.event == "error":
        raise from_problem(value) or foreign_answer(200)
    if not isinstance(value, dict):
        raise foreign_answer(200)
    if event.event == "result":
        return value
    if event.event == "display" and options.on_display is not None and isinstance(value.get("data"), dict):
        options.on_display(cast(DisplayedResult, value))
    if event.event == "progress" and options.on_progress is not None and isinstance(value.get("message"), str):
        options.on_progress(cast(Progress, value))
    return None
