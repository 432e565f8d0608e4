"""Files and folders; paths that are not absolute begin at the home of the sandbox's user."""

import io
import os
import re
import tempfile

from steps import equal, rejection, step

large = os.urandom(3 * 2**20)


@step("files: makes folders with a mode")
def _(client):
    fs = client.sandbox.fs
    fs.create_folder("files", "755")
    fs.create_folder("files/private", "700")
    fs.create_folder("files/one/two", "755")
    found = next(file for file in fs.list_files("files") if file.name == "private")
    assert found.is_dir and re.fullmatch("0?700", found.permissions), repr(found)


@step("files: uploads one, which is the user’s, and downloads it")
def _(client):
    fs = client.sandbox.fs
    fs.upload_file(b"hello world\n", "files/hello.txt")
    equal(fs.download_file("/home/daytona/files/hello.txt"), b"hello world\n")
    info = fs.get_file_info("files/hello.txt")
    equal([info.name, info.size, info.is_dir, info.owner, info.group], ["hello.txt", 12, False, "daytona", "daytona"])
    assert info.mod_time


@step("files: uploads many, and downloads many, one of which is missing")
def _(client):
    fs, sdk = client.sandbox.fs, client.sdk
    names = [f"files/{name}" for name in ["a.txt", "b c.txt", 'ä".txt', "new/folder/d.txt"]]
    fs.upload_files([sdk.FileUpload(source=f"in {name}".encode(), destination=name) for name in names])
    asked = [*names, "files/missing.txt"]
    results = fs.download_files([sdk.FileDownloadRequest(source=name) for name in asked])
    equal([result.source for result in results], asked)
    equal([result.result for result in results[:-1]], [f"in {name}".encode() for name in names])
    assert results[-1].error


@step("files: carries 3 MiB of bytes, and none at all")
def _(client):
    fs, sdk = client.sandbox.fs, client.sdk
    fs.upload_files([sdk.FileUpload(source=large, destination="files/large"), sdk.FileUpload(source=b"", destination="files/empty")])
    assert fs.download_file("files/large") == large
    equal(fs.get_file_info("files/empty").size, 0)


@step("files: goes from a local file to a local file")
def _(client):
    fs = client.sandbox.fs
    with tempfile.TemporaryDirectory() as folder:
        up, down = os.path.join(folder, "up"), os.path.join(folder, "down")
        with open(up, "wb") as file:
            file.write(large)
        fs.upload_file(up, "files/local")
        fs.download_file("files/local", down)
        with open(down, "rb") as file:
            assert file.read() == large


@step("files: streams up and down", since=(0, 200))
def _(client):
    fs, sent = client.sandbox.fs, []
    fs.upload_file_stream(io.BytesIO(large), "files/streamed", on_progress=sent.append)
    equal(sent[-1].bytes_sent, len(large))
    assert b"".join(fs.download_file_stream("files/streamed")) == large


@step("files: lists a folder")
def _(client):
    names = [file.name for file in client.sandbox.fs.list_files("files")]
    assert {"hello.txt", "a.txt", 'ä".txt', "new", "private"} <= set(names), names
    assert "d.txt" not in names


@step("files: lists folders below it", since=(0, 226))
def _(client):
    deep = client.sandbox.fs.list_files("files", depth=3)
    assert any(file.name == "d.txt" and file.path.endswith("/new/folder/d.txt") for file in deep), deep


@step("files: finds text, and names by a pattern")
def _(client):
    fs = client.sandbox.fs
    (match,) = fs.find_files("files", "hello")
    equal([match.file.endswith("files/hello.txt"), match.line, match.content.strip()], [True, 1, "hello world"])
    found = fs.search_files("files", "*.txt").files
    assert any(file.endswith("files/hello.txt") for file in found) and len(found) >= 4, found


@step("files: replaces text")
def _(client):
    fs = client.sandbox.fs
    (result,) = fs.replace_in_files(["files/hello.txt"], "world", "again")
    assert result.success and result.file.endswith("files/hello.txt"), repr(result)
    equal(fs.download_file("files/hello.txt"), b"hello again\n")


@step("files: sets mode, owner and group")
def _(client):
    box = client.sandbox
    box.fs.set_file_permissions("files/a.txt", mode="640", owner="daytona", group="daytona")
    equal(box.process.exec('stat -c "%a %U %G" files/a.txt').result.strip(), "640 daytona daytona")


@step("files: moves and deletes")
def _(client):
    fs = client.sandbox.fs
    fs.move_files("files/a.txt", "files/moved.txt")
    fs.delete_file("files/moved.txt")
    assert not {"a.txt", "moved.txt"} & {file.name for file in fs.list_files("files")}
    rejection(lambda: fs.delete_file("files/new"))
    fs.delete_file("files/new", recursive=True)
    assert "new" not in [file.name for file in fs.list_files("files")]


@step("errors: a missing file has its class")
def _(client):
    fs, sdk = client.sandbox.fs, client.sdk
    expected = getattr(sdk, "DaytonaFileNotFoundError", sdk.DaytonaNotFoundError)
    error = rejection(lambda: fs.get_file_info("files/missing.txt"))
    assert isinstance(error, expected), repr(error)
    # Older generations give every failed download one class.
    error = rejection(lambda: fs.download_file("files/missing.txt"))
    assert isinstance(error, sdk.DaytonaError if client.version < (0, 190) else expected), repr(error)
