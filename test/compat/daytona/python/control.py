"""Sandboxes themselves: made, found, configured and reached."""

import re
import urllib.error
import urllib.request

from steps import equal, rejection, step, until

PORT = 8080
PAGE = "served inside"


@step("control: creates a sandbox with labels, environment and user")
def _(client):
    generation = ".".join(map(str, client.version))
    client.sandbox = client.daytona.create(
        client.sdk.CreateSandboxFromSnapshotParams(
            name=f"compat-python-{client.version[1]}",
            language="python",
            os_user="daytona",
            labels={"purpose": "compat", "generation": generation},
            env_vars={"GIVEN": "from creation"},
            auto_stop_interval=20,
        )
    )
    box = client.sandbox
    equal([box.state.value, box.user, box.labels["purpose"], box.auto_stop_interval], ["started", "daytona", "compat", 20])
    assert box.cpu > 0 and box.memory > 0 and box.disk > 0
    assert box.organization_id and box.target and box.created_at and box.updated_at


@step("control: gets it by id and by name")
def _(client):
    equal(client.daytona.get(client.sandbox.id).name, client.sandbox.name)
    equal(client.daytona.get(client.sandbox.name).id, client.sandbox.id)


@step("control: lists it, and by label only it")
def _(client):
    generation = ".".join(map(str, client.version))
    assert client.sandbox.id in ids_of(client, {})
    equal(ids_of(client, {"generation": generation}), [client.sandbox.id])
    equal(ids_of(client, {"generation": "none"}), [])


@step("control: sets labels")
def _(client):
    equal(client.sandbox.set_labels({"purpose": "compat", "changed": "yes"})["changed"], "yes")
    equal(client.daytona.get(client.sandbox.id).labels["changed"], "yes")


@step("control: sets the times of stopping, archiving and deletion")
def _(client):
    box = client.sandbox
    box.set_autostop_interval(30)
    box.set_auto_archive_interval(120)
    box.set_auto_delete_interval(60)
    box.refresh_data()
    equal([box.auto_stop_interval, box.auto_archive_interval, box.auto_delete_interval], [30, 120, 60])
    box.set_auto_delete_interval(-1)
    # Older generations take no 0.
    if client.version >= (0, 190):
        box.set_autostop_interval(0)
    box.refresh_data()
    equal(box.auto_stop_interval, 0 if client.version >= (0, 190) else 30)
    equal([box.auto_archive_interval, box.auto_delete_interval], [120, -1])


@step("control: sets when it is destroyed", since=(0, 226))
def _(client):
    box = client.sandbox
    box.set_ttl(60)
    box.refresh_data()
    assert box.auto_destroy_at, box.auto_destroy_at
    box.set_ttl(0)
    box.refresh_data()
    assert not box.auto_destroy_at, box.auto_destroy_at


@step("control: finds its home and work folder")
def _(client):
    equal(client.sandbox.get_user_home_dir(), "/home/daytona")
    assert client.sandbox.get_work_dir().startswith("/")


@step("control: notes activity")
def _(client):
    client.sandbox.refresh_activity()


@step("control: changes the network", since=(0, 200))
def _(client):
    box = client.sandbox
    box.update_network_settings(network_block_all=True)
    box.refresh_data()
    equal(box.network_block_all, True)
    box.update_network_settings(network_block_all=False, network_allow_list="203.0.113.0/24")
    box.refresh_data()
    equal(box.network_allow_list, "203.0.113.0/24")


@step("control: measures it", since=(0, 226))
def _(client):
    metrics = client.sandbox.get_metrics_latest()
    assert metrics.mem_total > metrics.mem_used and metrics.disk_total > 0 and metrics.cpu_count > 0


@step("control: previews a port by a token, and by a signed address")
def _(client):
    box = client.sandbox
    box.process.exec(
        f"mkdir -p page && echo -n '{PAGE}' >page/index.html && "
        f"(nohup python3 -m http.server --directory page {PORT} >/dev/null 2>&1 &)"
    )
    preview = box.get_preview_link(PORT)
    assert preview.token
    until(lambda: visit(preview.url, {"x-daytona-preview-token": preview.token}) == PAGE)
    assert visit(preview.url) != PAGE
    equal(visit(box.create_signed_preview_url(PORT, 60).url), PAGE)


@step("control: makes access by SSH")
def _(client):
    access = client.sandbox.create_ssh_access(10)
    equal(access.sandbox_id, client.sandbox.id)
    assert access.token and access.ssh_command.startswith("ssh ")
    assert client.sandbox.validate_ssh_access(access.token).valid
    client.sandbox.revoke_ssh_access(access.token)
    assert not client.sandbox.validate_ssh_access(access.token).valid


@step("control: lists snapshots, and gets one by its name")
def _(client):
    listed = client.daytona.snapshot.list()
    assert listed.total > 0
    # The last one is the base image; others are of clients that run beside this one.
    equal(client.daytona.snapshot.get(listed.items[-1].name).name, listed.items[-1].name)


@step("control: keeps its files in a snapshot, and forks it", since=(0, 226))
def _(client):
    box, daytona = client.sandbox, client.daytona
    box.fs.upload_file(b"before", "copied.txt")
    box.create_snapshot("point of Python")
    equal(box.state.value, "started")
    taken = daytona.snapshot.list(source_sandbox_id=box.id).items
    equal([(one.name, one.state.value) for one in taken], [("point of Python", "active")])
    copies = [
        box.fork(name="forked by Python"),
        daytona.create(client.sdk.CreateSandboxFromSnapshotParams(snapshot="point of Python")),
    ]
    box.fs.upload_file(b"after", "copied.txt")
    for copy in copies:
        equal(copy.fs.download_file("copied.txt"), b"before")
        daytona.delete(copy)
    daytona.snapshot.delete("point of Python")


@step("builds: a sandbox of a Dockerfile, and a snapshot of the same", since=(0, 226))
def _(client):
    sdk, daytona = client.sdk, client.daytona
    image = sdk.Image.base("base").run_commands("echo from Python > /opt/note.txt").env({"NOTE": "is set"})
    said = []
    built = daytona.create(
        sdk.CreateSandboxFromImageParams(image=image, name="built by Python"),
        timeout=80,
        on_snapshot_create_logs=said.append,
    )
    equal((built.state.value, built.name), ("started", "built by Python"))
    assert "RUN echo from Python" in "\n".join(said), said
    equal(built.process.exec("cat /opt/note.txt; echo $NOTE").result.strip(), "from Python\nis set")
    daytona.delete(built)
    made = daytona.snapshot.create(sdk.CreateSnapshotParams(name="built by Python", image=image), timeout=80)
    equal(made.state.value, "active")
    daytona.snapshot.delete(daytona.snapshot.get("built by Python"))


@step("errors: a sandbox that is not there has its class")
def _(client):
    error = rejection(lambda: client.daytona.get("no-such-sandbox"))
    assert isinstance(error, client.sdk.DaytonaNotFoundError), repr(error)


@step("errors: a wrong key is refused")
def _(client):
    stranger = client.sdk.Daytona(client.sdk.DaytonaConfig(api_key="shv_wrong"))
    error = rejection(lambda: stranger.get("any"))
    assert isinstance(error, client.sdk.DaytonaError), repr(error)
    equal(error.status_code, 401)


@step("errors: a call that is not there fails at once, with the reason")
def _(client):
    error = rejection(lambda: client.daytona.volume.create("compat"))
    # Older generations give the error of the client below theirs.
    equal(getattr(error, "status_code", None) or error.status, 501)
    assert re.search("volumes", str(error)), str(error)


def ids_of(client, labels):
    """The list has pages in older generations, and is iterated in newer ones."""
    if client.version < (0, 190):
        return [box.id for box in client.daytona.list(labels).items]
    return [box.id for box in client.daytona.list(client.sdk.ListSandboxesQuery(labels=labels))]


def visit(url, headers={}):
    """Any host is this machine: names below the domain of previews need no server."""
    host = re.sub(r"^https?://([^/]+).*$", r"\1", url)
    port = host.rpartition(":")[2]
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"host": host, **headers})
    try:
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()
