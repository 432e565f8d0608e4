"""Requests to a port of a sandbox, by its preview."""
# Made from _async/preview.py by `make generate`; never edited by hand.

from __future__ import annotations

from collections.abc import Callable, Mapping

import httpx

from .._bodies import Collected, UnreadableError
from .._generated import types
from .._sites import Target, answer_of, target_of, too_large
from .clock import Clock
from .connection import Connection


class Preview:
    """One port of a sandbox. Its address is asked for once, at the first request."""

    def __init__(
        self, connection: Connection, find: Callable[[], types.GetPortPreviewUrlResult]
    ) -> None:
        self._connection = connection
        self._find = find
        self._found: types.GetPortPreviewUrlResult | None = None

    def fetch(
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
            self._found = self._find()
        target = target_of(self._found, path, headers, self._connection.url)
        clock = self._connection.begin(call_timeout_seconds)
        request = target.request(method, content, clock.timeout())
        return clock.run(lambda: self._exchange(target, request, clock))

    def _exchange(self, target: Target, request: httpx.Request, clock: Clock) -> httpx.Response:
        # A client of its own: the program inside gets no key of this one, and leaves no cookie in it.
        with httpx.Client(mounts=target.mounts) as client:
            return self._answer(client, target, request, clock)

    def _answer(
        self, client: httpx.Client, target: Target, request: httpx.Request, clock: Clock
    ) -> httpx.Response:
        body = Collected(target.max_bytes)
        with self._connection.explaining(clock, target.site):
            response = client.send(request, stream=True, follow_redirects=False)
            with clock.watching(response):
                try:
                    for chunk in response.iter_raw():
                        body.add(chunk)
                except UnreadableError:
                    raise too_large(target) from None
        return answer_of(response, body.take())
