"""A task of NeMo Gym in sandboxes of its provider for E2B, with a model that says what is written here."""

import asyncio
import tempfile
from pathlib import Path

from nemo_gym.sandbox import AsyncSandbox, Sandbox, SandboxSpec
from nemo_gym.sandbox.providers.base import SandboxStatus
from nemo_gym.sandbox.providers.registry import create_provider

# Address and key come from the variables of E2B's client.
PROVIDER = {"e2b": {"connection": {}, "create": {"template": "base"}}}
SPEC = SandboxSpec(ttl_s=300, env={"GREETING": "hello"}, metadata={"task": "sum"})

# What the model does, and what it is to hear.
STEPS = [
    ("cat task.txt && echo $GREETING && id -un", 0, "add two to forty\nhello\nuser\n"),
    ("python3 -c 'print(40 + 2)' >answer.txt; cat answer.txt", 0, "42\n"),
    ("echo not found >&2; exit 3", 3, "not found\n"),
    ("seq 200000 | tail -n 1", 0, "200000\n"),
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder, "task.txt")
        task.write_text("add two to forty\n")
        with Sandbox(PROVIDER, SPEC) as sandbox:
            sandbox.start()
            assert sandbox.status() == SandboxStatus.RUNNING
            sandbox.upload(task, "/home/user/task.txt")
            for command, code, heard in STEPS:
                result = sandbox.exec(command, cwd="/home/user")
                said = (result.return_code, (result.stdout or "") + (result.stderr or ""))
                assert said == (code, heard), (command, said)
            sandbox.download("/home/user/answer.txt", Path(folder, "answer.txt"))
            assert Path(folder, "answer.txt").read_text() == "42\n"
            assert sandbox.exec("id -un", user="root").stdout == "root\n"
            try:
                sandbox.exec("sleep 60", timeout_s=1)
                raise AssertionError("a command without end ended")
            except TimeoutError:
                pass


async def attached():
    """Another process of a rollout attaches to a sandbox by what the first one wrote down."""
    provider = create_provider(PROVIDER)
    first = AsyncSandbox(provider, SPEC)
    await first.start()
    second = await AsyncSandbox.connect(await first.serialize(), provider=provider)
    assert (await second.exec("echo attached")).stdout == "attached\n"
    await first.stop()
    assert await second.status() == SandboxStatus.STOPPED


main()
asyncio.run(attached())
print("done")
