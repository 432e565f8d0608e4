"""Requests to previews, and their answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import httpx

from ._error import SandhavenError
from ._failures import failure, invalid_argument
from ._generated import types

_MAX_BYTES = 64 * 1024 * 1024


class Target(NamedTuple):
    site: str
    url: httpx.URL
    """With the address to connect to as its host."""
    headers: httpx.Headers
    mounts: dict[str, None]
    """Addresses that bypass the environment's proxies."""
    max_bytes: int = _MAX_BYTES

    def request(self, method: str, content: str | bytes | None, timeout: httpx.Timeout) -> httpx.Request:
        extensions = {"timeout": timeout.as_dict()}
        return httpx.Request(method, self.url, headers=self.headers, content=content, extensions=extensions)


def target_of(
    preview: types.GetPortPreviewUrlResult, path: str, headers: Mapping[str, str] | None, service: str
) -> Target:
    """Connects to an address in place of a name below localhost, which only browsers and curl resolve."""
    site = httpx.URL(preview["url"])
    try:
        url = site.join(path)
    except httpx.InvalidURL:
        raise _no_path() from None
    if (url.scheme, url.netloc) != (site.scheme, site.netloc):
        raise _no_path()
    sent = httpx.Headers({"Accept-Encoding": "identity", "User-Agent": "sandhaven-python", **(headers or {})})
    sent["Host"] = url.netloc.decode("ascii")
    if preview["token"] is not None and preview["header"] is not None:
        sent[preview["header"]] = preview["token"]
    if url.scheme != "http" or not url.host.endswith(".localhost"):
        return Target(str(site), url, sent, {})
    own = httpx.URL(service).host
    address = "127.0.0.1" if own == "localhost" or own.endswith(".localhost") else own
    mount = f"all://[{address}]" if ":" in address else f"all://{address}"
    return Target(str(site), url.copy_with(host=address), sent, {mount: None})


def answer_of(response: httpx.Response, body: bytes) -> httpx.Response:
    """Returns the answer unchanged: a compressed body stays compressed, since a decompressed one has no bound."""
    headers = [(name, value) for name, value in response.headers.raw if name.lower() != b"content-encoding"]
    return httpx.Response(response.status_code, headers=headers, content=body, request=response.request)


def too_large(target: Target) -> SandhavenError:
    detail = f"The answer of {target.site} has more than {target.max_bytes} bytes."
    return failure("too_large", detail, "Fetch it with another client; its Host is that of the preview's url.")


def _no_path() -> SandhavenError:
    detail = "The path leads to another site than that of the preview."
    return invalid_argument("path", detail, "Give a path that begins with one slash, such as /items?page=2.")
