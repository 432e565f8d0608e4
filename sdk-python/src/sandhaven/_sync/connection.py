"""Connects to the service: its address and key, and one request within the caller's time."""
# Made from _async/connection.py by `make generate`; never edited by hand.

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from .._bodies import MAX_PROBLEM_BYTES, Collected, UnreadableError, parse_json
from .._error import SandhavenError
from .._failures import foreign_answer, from_problem, invalid_argument, redirected, timed_out, unreachable
from .._settings import Settings
from .clock import Clock


class Connection:
    def __init__(
        self,
        settings: Settings,
        *,
        max_retries: int,
        call_timeout_seconds: float | None,
        transport: httpx.BaseTransport | None,
    ) -> None:
        if max_retries < 0:
            raise invalid_argument("max_retries", "max_retries is negative.", "Give 0 for no retries.")
        self.max_retries = max_retries
        self.url = settings.url
        self._seconds = _checked(call_timeout_seconds)
        self._client = httpx.Client(
            auth=settings.auth,
            headers=settings.headers,
            mounts=settings.mounts,
            transport=transport,
            # A redirect would take the key along.
            follow_redirects=False,
            # Streams stay open, and a bound would let them hold up other calls.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    def begin(self, call_timeout_seconds: float | None) -> Clock:
        """Starts the clock of one call, all attempts included."""
        own = _checked(call_timeout_seconds)
        return Clock(self._seconds if own is None else own)

    def send(
        self,
        method: str,
        path: str,
        clock: Clock,
        *,
        headers: Mapping[str, str],
        content: bytes | Iterable[bytes] | None = None,
        timeout: httpx.Timeout | None = None,
    ) -> httpx.Response:
        """Gives the response once its headers are there. The caller closes it."""
        limit = clock.timeout() if timeout is None else timeout
        try:
            request = self._client.build_request(
                method, self.url + path, headers=dict(headers), content=content, timeout=limit
            )
        except httpx.InvalidURL:
            raise invalid_argument("path", "The name is too long for an address.", "Give a shorter one.") from None
        with self.explaining(clock):
            response = self._client.send(request, stream=True)
        if response.is_redirect:
            response.close()
            raise redirected(self.url)
        return response

    @contextmanager
    def explaining(self, clock: Clock, url: str | None = None) -> Iterator[None]:
        """Converts a failure on the way to the caller's error; others stay as they are."""
        try:
            yield
        except (httpx.HTTPError, httpx.StreamError, UnreadableError) as error:
            if clock.is_over and clock.seconds is not None:
                raise timed_out(clock.seconds) from error
            raise unreachable(self.url if url is None else url) from error

    def read(self, response: httpx.Response, clock: Clock, max_bytes: int) -> bytes:
        """Reads a whole body, within a bound."""
        body = Collected(max_bytes)
        with clock.watching(response):
            for chunk in response.iter_raw():
                body.add(chunk)
        return body.take()

    def object_of(self, response: httpx.Response, clock: Clock, max_bytes: int) -> dict[str, Any]:
        """Reads a JSON object, or raises the error of an unsuccessful response."""
        if not response.is_success:
            raise self.failure_of(response, clock)
        value = parse_json(self.read(response, clock, max_bytes))
        if isinstance(value, dict):
            return value
        raise foreign_answer(response.status_code)

    def failure_of(self, response: httpx.Response, clock: Clock) -> SandhavenError:
        """Reads the error of an unsuccessful response."""
        foreign = foreign_answer(response.status_code, response.headers.get("retry-after"))
        try:
            return from_problem(parse_json(self.read(response, clock, MAX_PROBLEM_BYTES))) or foreign
        except UnreadableError:
            return foreign

    def close(self) -> None:
        self._client.close()


def _checked(seconds: float | None) -> float | None:
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise invalid_argument(
            "call_timeout_seconds", "The time limit is no positive number.", "Leave it out for no limit."
        )
    return seconds
