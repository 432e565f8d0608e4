"""Walks over all pages of a list, fetching each page when its first item is wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

_Page = TypeVar("_Page")
_Item = TypeVar("_Item")


async def by_page(
    first: int | None,
    fetch: Callable[[int], Awaitable[_Page]],
    items_of: Callable[[_Page], list[_Item]],
    total_pages_of: Callable[[_Page], int],
) -> AsyncIterator[_Item]:
    """Walks lists by page. An item made or deleted meanwhile may move another across a page's border."""
    number = 1 if first is None else first
    while True:
        page = await fetch(number)
        for item in items_of(page):
            yield item
        if number >= total_pages_of(page):
            return
        number += 1


async def by_offset(
    first: int | None,
    fetch: Callable[[int], Awaitable[_Page]],
    items_of: Callable[[_Page], list[_Item]],
    has_more: Callable[[_Page], bool],
) -> AsyncIterator[_Item]:
    """Walks lists by offset."""
    offset = 0 if first is None else first
    while True:
        page = await fetch(offset)
        items = items_of(page)
        for item in items:
            yield item
        # A page without items would be requested for ever.
        if not has_more(page) or not items:
            return
        offset += len(items)
