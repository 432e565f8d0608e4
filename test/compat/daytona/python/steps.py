"""Named checks, one after another, each printed as a line of JSON: {step, ok, detail}. The first line names all: {planned}."""

import json
import time

planned = []


def step(name, since=()):
    """Plans a check; `since` is the first generation whose client has the call."""

    def plan(run):
        planned.append((name, run, since))
        return run

    return plan


def run_steps(client):
    """Runs those that a generation has. Without a sandbox, which the first makes, no other is run."""
    own = [(name, run) for name, run, since in planned if client.version >= since]
    say({"planned": [name for name, _ in own]})
    for name, run in own:
        try:
            run(client)
            say({"step": name, "ok": True, "detail": ""})
        except BaseException as error:
            status = getattr(error, "status_code", None)
            detail = f"{type(error).__name__}{f' ({status})' if status else ''}: {error}"
            say({"step": name, "ok": False, "detail": detail[:600]})
        if client.sandbox is None:
            return


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def rejection(call):
    """Returns the error that a call raises."""
    try:
        result = call()
    except Exception as error:
        return error
    raise AssertionError(f"the call succeeded, and was to fail: {result!r}")


def until(find, tries=100):
    """Waits until a value is there."""
    for _ in range(tries):
        found = find()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"not so within {tries / 10} s")


def say(line):
    print(json.dumps(line), flush=True)
