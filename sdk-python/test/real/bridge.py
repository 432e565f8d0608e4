"""Calls tools that a test of another language names: one JSON object a line in, one a line out."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

from sandhaven import AsyncSandhaven, Sandhaven, SandhavenError


def method(client: Any, tool: str) -> Any:
    toolkit, name = tool.split(".")
    owner = client if toolkit == "Sandbox" else getattr(client, snake(toolkit))
    return getattr(owner, snake(name))


def snake(name: str) -> str:
    return re.sub("(?<!^)([A-Z])", r"_\1", name).lower()


def answer(outcome: dict[str, object]) -> None:
    print(json.dumps(outcome), flush=True)


def problem(error: SandhavenError) -> dict[str, object]:
    return {"problem": {name: value for name, value in vars(error).items() if not name.startswith("_")}}


def with_threads() -> None:
    with Sandhaven() as client:
        for line in sys.stdin:
            asked = json.loads(line)
            try:
                answer({"result": method(client, asked["tool"])(**asked["parameters"])})
            except SandhavenError as error:
                answer(problem(error))


async def with_asyncio() -> None:
    async with AsyncSandhaven() as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            try:
                answer({"result": await method(client, asked["tool"])(**asked["parameters"])})
            except SandhavenError as error:
                answer(problem(error))


if sys.argv[1] == "async":
    asyncio.run(with_asyncio())
else:
    with_threads()
