"""Connects to the service: its address and key, and one request within the caller's time."""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from .._bodies import MAX_PROBLEM_BYTES, Collected, UnreadableError, parse_json
from .._error import SandhavenError
from .._failures import foreign_answer, from_problem, invalid_argument, redirected, timed_out, unreachable
from .._settings import Settings
from .clock import AsyncClock


class AsyncConnection:
    def __init__(
        self,
        settings: Settings,
        *,
        max_retries: int,
        call_timeout_seconds: float | None,
        transport: httpx.AsyncBaseTransport | None,
    ) -> None:
        if max_retries < 0:
            raise invalid_argument("max_retries", "max_retries is negative.", "Give 0 for no retries.")
        self.max_retries = max_retries
        self.url = settings.url
        self._seconds = _checked(call_timeout_seconds)
        self._client = httpx.AsyncClient(
            auth=settings.auth,
            headers=settings.headers,
            mounts=settings.mounts,
            transport=transport,
            # A redirect would take the key along.
            follow_redirects=False,
            # Streams stay open, and a bound would let them hold up other calls.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    def begin(self, call_timeout_seconds: float | None) -> AsyncClock:
        """Starts the clock of one call, all attempts included."""
        own = _checked(call_timeout_seconds)
        return AsyncClock(self._seconds if own is None else own)

    async def send(
        self,
        method: str,
        path: str,
        clock: AsyncClock,
        *,
        headers: Mapping[str, str],
        content: bytes | AsyncIterable[bytes] | None = None,
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
            response = await self._client.send(request, stream=True)
        if response.is_redirect:
            await response.aclose()
            raise redirected(self.url)
        return response

    @contextmanager
    def explaining(self, clock: AsyncClock, url: str | None = None) -> Iterator[None]:
        """Converts network failures to the caller's error; other exceptions pass unchanged."""
        try:
            yield
        except (httpx.HTTPError, httpx.StreamError, UnreadableError) as error:
            if clock.is_over and clock.seconds is not None:
                raise timed_out(clock.seconds) from error
            raise unreachable(self.url if url is None else url) from error

    async def read(self, response: httpx.Response, clock: AsyncClock, max_bytes: int) -> bytes:
        """Reads a whole body, within a bound."""
        body = Collected(max_bytes)
        with clock.watching(response):
            async for chunk in response.aiter_raw():
                body.add(chunk)
        return body.take()

    async def object_of(self, response: httpx.Response, clock: AsyncClock, max_bytes: int) -> dict[str, Any]:
        """Reads a JSON object, or raises the error of an unsuccessful response."""
        if not response.is_success:
            raise await self.failure_of(response, clock)
        value = parse_json(await self.read(response, clock, max_bytes))
        if isinstance(value, dict):
            return value
        raise foreign_answer(response.status_code)

    async def failure_of(self, response: httpx.Response, clock: AsyncClock) -> SandhavenError:
        """Reads the error of an unsuccessful response."""
        foreign = foreign_answer(response.status_code, response.headers.get("retry-after"))
        try:
            return from_problem(parse_json(await self.read(response, clock, MAX_PROBLEM_BYTES))) or foreign
        except UnreadableError:
            return foreign

    async def close(self) -> None:
        await self._client.aclose()


def _checked(seconds: float | None) -> float | None:
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise invalid_argument(
            "call_timeout_seconds", "The time limit is not a positive number.", "Leave it out for no limit."
        )
    return seconds
