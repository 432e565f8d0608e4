"""E2B's client for Python, unmodified, by every group of its calls that are here:
python program.py, with E2B_DOMAIN and E2B_API_KEY."""

import sys
from importlib.metadata import version
from pathlib import Path
from time import sleep
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[2] / "daytona" / "python"))

from e2b import (
    CommandExitException,
    FileNotFoundException,
    PtySize,
    Sandbox,
    SandboxNotFoundException,
    Template,
    TimeoutException,
)
from steps import equal, rejection, run_steps, step

client = SimpleNamespace(version=tuple(int(part) for part in version("e2b").split(".")[:2]), sandbox=None)


@step("create a sandbox")
def create(client):
    client.sandbox = Sandbox.create(timeout=240, metadata={"team": "a&b"}, envs={"COLOUR": "sand"})
    equal(client.sandbox.is_running(), True)


@step("run commands")
def run(client):
    result = client.sandbox.commands.run("whoami; pwd; echo $COLOUR; echo err >&2")
    equal((result.stdout, result.stderr, result.exit_code), ("user\n/home/user\nsand\n", "err\n", 0))
    error = rejection(lambda: client.sandbox.commands.run("exit 3"))
    equal((type(error), error.exit_code), (CommandExitException, 3))
    equal(type(rejection(lambda: client.sandbox.commands.run("sleep 30", timeout=1))), TimeoutException)
    equal(len(client.sandbox.commands.run("seq 1 200000").stdout), 1_288_895)


@step("write to a background command")
def background(client):
    cat = client.sandbox.commands.run("cat; echo done", background=True, stdin=True)
    client.sandbox.commands.send_stdin(cat.pid, "hey\n")
    equal(cat.pid in [process.pid for process in client.sandbox.commands.list()], True)
    client.sandbox.commands.close_stdin(cat.pid)
    equal(cat.wait().stdout, "hey\ndone\n")


@step("kill a command")
def kill_command(client):
    sleeping = client.sandbox.commands.run("sleep 60", background=True)
    equal(sleeping.kill(), True)
    equal(type(rejection(sleeping.wait)), CommandExitException)


@step("write, read, list and change files")
def files(client):
    files = client.sandbox.files
    equal(files.write("a.txt", "one").path, "/home/user/a.txt")
    equal(files.read("a.txt"), "one")
    files.write_files([{"path": "b/x.txt", "data": "x"}, {"path": "/tmp/y é.txt", "data": b"y"}])
    equal(files.read("/tmp/y é.txt"), "y")
    equal(type(rejection(lambda: files.read("none"))), FileNotFoundException)
    equal("/home/user/b/x.txt" in [entry.path for entry in files.list(".", depth=2)], True)
    equal((files.make_dir("d"), files.make_dir("d")), (True, False))
    equal(files.rename("a.txt", "d/c.txt").path, "/home/user/d/c.txt")
    info = files.get_info("d/c.txt")
    equal((info.size, info.permissions, info.owner), (3, "-rw-r--r--", "user"))
    files.remove("d")
    equal((files.exists("d"), files.exists("b")), (False, True))


@step("watch a folder by asking")
def watch(client):
    files = client.sandbox.files
    files.make_dir("w")
    watching = files.watch_dir("w")
    files.write("w/n.txt", "x")
    seen = []
    for _ in range(100):
        seen += [(event.type.value, event.name) for event in watching.get_new_events()]
        if ("write", "n.txt") in seen:
            break
        sleep(0.05)
    equal(("create", "n.txt") in seen and ("write", "n.txt") in seen, True)
    watching.stop()


@step("work in a terminal")
def terminal(client):
    shown = []
    terminal = client.sandbox.pty.create(size=PtySize(rows=24, cols=80))
    client.sandbox.pty.send_stdin(terminal.pid, b"echo $((40+2))\nexit\n")
    terminal.wait(on_pty=lambda data: shown.append(data))
    equal(b"42" in b"".join(shown), True)


@step("show, list and prolong the sandbox")
def control(client):
    info = client.sandbox.get_info()
    equal((info.metadata, info.cpu_count), ({"team": "a&b"}, 2))
    client.sandbox.set_timeout(600)
    equal(client.sandbox.get_info().end_at > info.end_at, True)
    equal(client.sandbox.sandbox_id in [one.sandbox_id for one in Sandbox.list().next_items()], True)
    equal(client.sandbox.get_metrics()[0].cpu_count, 2)
    equal(Sandbox.connect(client.sandbox.sandbox_id).commands.run("echo again").stdout, "again\n")


@step("keep its files in a snapshot, and make others of it")
def snapshot(client):
    box = client.sandbox
    box.files.write("s.txt", "before")
    taken = box.create_snapshot(name="point")
    equal(taken.names, ["point"])
    box.files.write("s.txt", "after")
    equal([one.snapshot_id for one in box.list_snapshots(name="point").next_items()], [taken.snapshot_id])
    for template in (taken.snapshot_id, "point:default"):
        made = Sandbox.create(template, timeout=60)
        equal(made.commands.run("whoami; pwd; cat s.txt").stdout, "user\n/home/user\nbefore")
        made.kill()
    equal((Sandbox.delete_snapshot(taken.snapshot_id), Sandbox.delete_snapshot(taken.snapshot_id)), (True, False))
    equal(Sandbox.list_snapshots(limit=1).next_items(), [])


@step("fork it")
def fork(client):
    forks = client.sandbox.fork(count=2, timeout=60)
    equal(len({client.sandbox.sandbox_id, *(one.sandbox_id for one in forks)}), 3)
    for one in forks:
        equal(one.get_info().metadata, {"team": "a&b"})
        equal(one.commands.run("whoami; echo $COLOUR; cat s.txt").stdout, "user\nsand\nafter")
        one.files.write("s.txt", "forked")
    equal(client.sandbox.files.read("s.txt"), "after")
    for one in forks:
        one.kill()
    equal(type(rejection(forks[0].fork)), SandboxNotFoundException)


@step("build a template, and start from it")
def template(_client):
    log = []
    plain = Template().from_base_image().run_cmd("echo made >made.txt")
    Template.build(plain, alias="made", cpu_count=1, memory_mb=1024, on_build_logs=lambda entry: log.append(entry.message))
    equal(any("echo made" in message for message in log), True)
    made = Sandbox.create("made", timeout=60)
    equal(made.commands.run("whoami; pwd; cat made.txt").stdout, "user\n/home/user\nmade\n")
    made.kill()


@step("pause it and go on")
def pause(client):
    client.sandbox.commands.run("echo kept >/tmp/kept")
    client.sandbox.pause()
    equal(client.sandbox.is_running(), False)
    Sandbox.connect(client.sandbox.sandbox_id, timeout=240)
    equal(client.sandbox.commands.run("cat /tmp/kept").stdout, "kept\n")


@step("kill it")
def kill(client):
    equal((client.sandbox.kill(), client.sandbox.is_running(), client.sandbox.kill()), (True, False, False))


run_steps(client)
