"""A task in a runtime of verifiers for E2B: its image becomes a template, and a program is run that is told line by line."""

import asyncio

from e2b import AsyncTemplate
from verifiers.v1.runtimes.e2b import E2BConfig, E2BRuntime

PROGRAM = b"import sys\nfor line in sys.stdin:\n    print(int(line) + 2, flush=True)\n    print('told', file=sys.stderr, flush=True)\n"


async def main():
    runtime = E2BRuntime(E2BConfig(image="python:3.13-slim", cpu=2, memory=1))
    await runtime.start()
    try:
        assert await AsyncTemplate.exists(f"{runtime.info.template}:default")
        await runtime.write("task/add.py", PROGRAM)
        assert await runtime.read("task/add.py") == PROGRAM
        found = await runtime.run(["sh", "-c", "pwd; id -un; echo $GREETING; exit 3"], {"GREETING": "hello"})
        assert (found.exit_code, found.stdout, found.stderr) == (3, "/app\nroot\nhello\n", ""), found
        program = await runtime.run_program(["python3", "-c", "print('é' * 100000)"], {})
        assert (program.exit_code, program.stdout) == (0, "é" * 100000 + "\n"), program.exit_code
        process = await runtime.open_process(["python3", "task/add.py"], {})
        await process.write(b"40\n")
        assert await anext(process.stdout) == b"42\n"
        assert await anext(process.stderr) == b"told\n"
        await process.terminate()
        assert await process.wait() != 0
    finally:
        await runtime.stop()
    assert not await runtime.alive()


asyncio.run(main())
print("done")
