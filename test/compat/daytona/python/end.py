"""A sandbox brought to its end."""

from steps import equal, rejection, step, until


@step("end: stops")
def _(client):
    client.sandbox.fs.upload_file(b"kept", "kept.txt")
    client.sandbox.stop()
    equal(client.sandbox.state.value, "stopped")


@step("end: starts with its files")
def _(client):
    client.sandbox.start()
    equal(client.sandbox.state.value, "started")
    equal(client.sandbox.fs.download_file("kept.txt"), b"kept")


@step("end: is archived, and starts of its archive")
def _(client):
    box = client.sandbox
    box.stop()
    box.archive()

    def is_archived():
        box.refresh_data()
        return box.state.value == "archived"

    until(is_archived)
    box.start()
    equal(box.fs.download_file("kept.txt"), b"kept")


@step("end: is deleted")
def _(client):
    client.daytona.delete(client.sandbox)
    error = rejection(lambda: client.daytona.get(client.sandbox.id))
    assert isinstance(error, client.sdk.DaytonaNotFoundError), repr(error)
