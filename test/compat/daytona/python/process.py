"""Commands and code."""

import time

from steps import equal, rejection, step


@step("process: runs a command as the sandbox’s user, in its home")
def _(client):
    box = client.sandbox
    response = box.process.exec("whoami; echo $HOME; echo $GIVEN")
    equal([response.exit_code, response.result.strip()], [0, "daytona\n/home/daytona\nfrom creation"])
    equal(box.process.exec("pwd").result.strip(), box.get_work_dir())


@step("process: takes a folder and an environment")
def _(client):
    env = {"ONE": 'it’s "one"', "TWO": "$HOME `id`"}
    response = client.sandbox.process.exec('pwd; echo "$ONE"; echo "$TWO"', cwd="/tmp", env=env)
    equal(response.result.strip(), f"/tmp\n{env['ONE']}\n{env['TWO']}")


@step("process: gives the exit status, and both streams")
def _(client):
    response = client.sandbox.process.exec("echo out; echo err >&2; exit 42")
    equal(response.exit_code, 42)
    assert "out" in response.result and "err" in response.result, response.result


@step("process: cuts nothing out of 2 MB")
def _(client):
    lines = client.sandbox.process.exec("seq 1 300000").result.splitlines()
    equal([len(lines), lines[-1]], [300000, "300000"])


@step("process: takes text of several lines")
def _(client):
    response = client.sandbox.process.exec("cat <<'END'\nfirst ' line\nsecond \" line\nEND")
    equal(response.result.strip(), "first ' line\nsecond \" line")


@step("process: starts what goes on by itself")
def _(client):
    client.sandbox.process.exec("(sleep 2; touch later) >/dev/null 2>&1 &")
    equal(client.sandbox.process.exec("ls later 2>/dev/null; sleep 3; ls later").result.strip(), "later")


@step("process: ends a command that takes too long")
def _(client):
    begun = time.monotonic()
    error = rejection(lambda: client.sandbox.process.exec("sleep 30", timeout=1))
    assert time.monotonic() - begun < 15
    assert isinstance(error, client.sdk.DaytonaTimeoutError) or error.status_code == 408, repr(error)
    assert "time" in str(error).lower(), str(error)


@step("code: runs Python, with arguments and an environment")
def _(client):
    params = client.sdk.CodeRunParams(argv=["one", "two"], env={"GIVEN_HERE": "to code"})
    response = client.sandbox.process.code_run(
        'import os, sys\nx = 5\nprint(x + 10, sys.argv[1:], os.environ["GIVEN_HERE"], os.environ["GIVEN"])', params
    )
    equal([response.exit_code, response.result.strip()], [0, "15 ['one', 'two'] to code from creation"])


@step("code: fails with what the interpreter says")
def _(client):
    response = client.sandbox.process.code_run('print("before")\nraise ValueError("wrong")')
    assert response.exit_code != 0
    assert "before" in response.result and "ValueError: wrong" in response.result, response.result
