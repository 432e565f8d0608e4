"""The address, the key and the headers of a client, checked before the first request."""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Generator, Mapping
from typing import NamedTuple

import httpx

from ._failures import failure, invalid_argument

_DEFAULT_URL = "http://127.0.0.1:7420"
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class Default(enum.Enum):
    """Stands for a value that the environment gives."""

    ENVIRONMENT = "environment"


class Settings(NamedTuple):
    url: str
    auth: httpx.Auth | None
    headers: httpx.Headers
    mounts: dict[str, None]
    """Addresses of this machine, which bypass the environment's proxies."""


def settings_of(
    api_key: str | Default | None, url: str | None, headers: Mapping[str, str] | None, team: str | None
) -> Settings:
    given = os.environ.get("SANDBOX_API_KEY", "") if isinstance(api_key, Default) else api_key
    address = _address(url or os.environ.get("SANDBOX_API_URL") or _DEFAULT_URL)
    own = {"Sandhaven-Team": team} if team is not None else {}
    # Bodies are never decompressed, so none grows beyond its bound.
    fixed = {"Accept-Encoding": "identity", "User-Agent": "sandhaven-python"}
    sent = httpx.Headers(_checked({**(headers or {}), **own}))
    sent.update(fixed)
    host = httpx.URL(address).host
    mounts = {f"all://[{host}]" if ":" in host else f"all://{host}": None} if host in _LOOPBACK else {}
    return Settings(address, None if given is None else _BearerKey(given), sent, mounts)


class _BearerKey(httpx.Auth):
    """Adds the key when a request is sent, so that no stored header holds it, and no repr shows it."""

    def __init__(self, key: str) -> None:
        stripped = key.strip()
        if stripped == "":
            hint = "Give api_key, or set SANDBOX_API_KEY."
            raise failure("unauthenticated", "There is no API key.", hint)
        # The library's own error would show the key.
        if not re.fullmatch(r"[\x20-\x7e]+", stripped):
            raise failure("unauthenticated", "The API key has characters that no key has.", "Copy it once more.")
        self.__key = stripped

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self.__key}"
        yield request


def _address(url: str) -> str:
    hint = "Give a url such as http://127.0.0.1:7420."
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        raise invalid_argument("url", "The url is not valid.", hint) from None
    if parsed.scheme not in ("http", "https") or parsed.host == "":
        raise invalid_argument("url", "The url has to begin with http:// or https://, and name a host.", hint)
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise invalid_argument("url", "The url has a user, a query or a fragment.", f"{hint} The key is api_key.")
    return str(parsed).rstrip("/")


def _checked(headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not re.fullmatch(r"[\x20-\x7e\t]*", value):
            # Without the value, which may be a secret.
            raise invalid_argument("headers", f"The header {name!r} cannot be sent.", "Use ASCII on one line.")
    return headers
