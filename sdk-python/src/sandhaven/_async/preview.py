"""Requests to a port of a sandbox, by its preview."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import httpx

from .._bodies import Collected, UnreadableError
from .._generated import types
from .._sites import Target, answer_of, target_of, too_large
from .clock import AsyncClock
from .connection import AsyncConnection


class AsyncPreview:
    """One port of a sandbox. Its address is asked for once, at the first request."""

    def __init__(
        self, connection: AsyncConnection, find: Callable[[], Awaitable[types.GetPortPreviewUrlResult]]
    ) -> None:
        self._connection = connection
        self._find = find
        self._found: types.GetPortPreviewUrlResult | None = None

    async def fetch(
        self,
        path: str = "/",
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: str | bytes | None = None,
        call_timeout_seconds: float | None = None,
    ) -> httpx.Response:
        """Fetches what a program serves there, 64 MiB at most.

        Redirects are answers, since following one could take the token of the preview elsewhere.

        Args:
            path: Path with its query, such as /items?page=2.
            method: Method of HTTP (default GET).
            headers: Sent with the request.
            content: Body of the request.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        if self._found is None:
            self._found = await self._find()
        target = target_of(self._found, path, headers, self._connection.url)
        clock = self._connection.begin(call_timeout_seconds)
        request = target.request(method, content, clock.timeout())
        return await clock.run(lambda: self._exchange(target, request, clock))

    async def _exchange(self, target: Target, request: httpx.Request, clock: AsyncClock) -> httpx.Response:
        # A client of its own: the program inside gets no key of this one, and leaves no cookie in it.
        async with httpx.AsyncClient(mounts=target.mounts) as client:
            return await self._answer(client, target, request, clock)

    async def _answer(
        self, client: httpx.AsyncClient, target: Target, request: httpx.Request, clock: AsyncClock
    ) -> httpx.Response:
        body = Collected(target.max_bytes)
        with self._connection.explaining(clock, target.site):
            response = await client.send(request, stream=True, follow_redirects=False)
            with clock.watching(response):
                try:
                    async for chunk in response.aiter_raw():
                        body.add(chunk)
                except UnreadableError:
                    raise too_large(target) from None
        return answer_of(response, body.take())
