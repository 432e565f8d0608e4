"""Bytes of files, up and down."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from driver import Driver
from scripted_service import Exchange, ScriptedService, foreign, problem, result

from sandhaven import InvalidArgumentError, UnavailableError

UPLOADED = {"path": "a b", "bytes_written": 5, "created": True}


def test_go_up_with_mode_and_parents(service: ScriptedService, client: Driver) -> None:
    service.answers(result(UPLOADED))
    given = client.call(
        lambda c: c.files.upload("my box", "a b", iter([b"he", b"llo"]), mode="755", create_parents=False)
    )
    assert given == UPLOADED
    [asked] = service.asked
    assert (asked.method, asked.path) == (
        "PUT",
        "/v1/sandboxes/my%20box/files?path=a+b&mode=755&create_parents=false",
    )
    assert (asked.headers["content-type"], asked.body) == ("application/octet-stream", "hello")


@pytest.mark.parametrize("content", ["hé", b"he", bytearray(b"he"), memoryview(b"he"), io.BytesIO(b"he"), [b"h", b"e"]])
def test_go_up_in_each_form(service: ScriptedService, client: Driver, content: object) -> None:
    if isinstance(content, io.BytesIO):
        content.seek(0)
    service.answers(result(UPLOADED))
    client.call(lambda c: c.files.upload("demo", "a", content))
    assert service.asked[0].body == ("hé" if isinstance(content, str) else "he")


def test_go_up_from_an_asynchronous_iterator(service: ScriptedService) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"he"
        yield b"llo"

    client = Driver("async", url=service.url, api_key="key")
    service.answers(result(UPLOADED))
    client.call(lambda c: c.files.upload("demo", "a", pieces()))
    assert service.asked[0].body == "hello"
    client.close()


def test_go_and_come_in_the_name_of_a_linux_user(service: ScriptedService, client: Driver) -> None:
    service.answers(result(UPLOADED), result(UPLOADED))
    client.call(lambda c: c.files.upload("demo", "a", b"", user="ann"))
    client.call(lambda c: c.sandbox("demo").files.download("a", user="1000"))
    assert [asked.path for asked in service.asked] == [
        "/v1/sandboxes/demo/files?path=a&user=ann",
        "/v1/sandboxes/demo/files?path=a&user=1000",
    ]


def test_names_stay_what_they_are(service: ScriptedService, client: Driver) -> None:
    service.answers(result(UPLOADED), result(UPLOADED))
    client.call(lambda c: c.files.upload("..", "a%2Fb&mode=777#x\n", b""))
    client.call(lambda c: c.files.upload("a/b?c", "é", b"", durable=True))
    assert [asked.path for asked in service.asked] == [
        "/v1/sandboxes/%2E%2E/files?path=a%252Fb%26mode%3D777%23x%0A",
        "/v1/sandboxes/a%2Fb%3Fc/files?path=%C3%A9&durable=true",
    ]


@pytest.mark.parametrize("content", ["\ud800", 3, None, ["text"]])
def test_content_without_bytes_is_refused(service: ScriptedService, client: Driver, content: object) -> None:
    error = client.failure(lambda c: c.files.upload("demo", "a", content))
    assert (error.code, error.parameter) == ("invalid_argument", "content")


@pytest.mark.parametrize(("sandbox", "path"), [("demo", "\ud800"), ("\ud800", "a"), ("demo", "a" * 70_000)])
def test_names_that_no_address_holds_are_refused(
    service: ScriptedService, client: Driver, sandbox: str, path: str
) -> None:
    assert client.failure(lambda c: c.files.download(sandbox, path)).code == "invalid_argument"
    assert service.asked == []


def test_a_file_of_text_is_refused(service: ScriptedService, client: Driver, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("hello")
    with path.open() as text, pytest.raises(InvalidArgumentError, match="no bytes"):
        client.call(lambda c: c.files.upload("demo", "a", text))


def test_come_down_whole_or_in_part(service: ScriptedService, client: Driver) -> None:
    def part(exchange: Exchange) -> None:
        exchange.start(206, transfer_encoding="chunked")
        exchange.piece(b"ell")
        exchange.wfile.write(b"0\r\n\r\n")

    service.answers(foreign(200, b"hello"), part, foreign(206, b"llo"))
    whole = client.call(lambda c: c.files.download("demo", "a"))
    assert (whole.size, client.call(lambda _: whole.text())) == (5, "hello")
    some = client.call(lambda c: c.files.download("demo", "a", start=1, end=3))
    assert (some.size, client.call(lambda _: some.read())) == (None, b"ell")
    rest = client.call(lambda c: c.files.download("demo", "a", start=2))
    assert b"".join(client.all(lambda _: rest)) == b"llo"
    assert [asked.headers.get("range") for asked in service.asked] == [None, "bytes=1-3", "bytes=2-"]


def test_an_empty_range_is_refused(client: Driver) -> None:
    assert client.failure(lambda c: c.files.download("demo", "a", start=3, end=2)).code == "invalid_argument"
    assert client.failure(lambda c: c.files.download("demo", "a", start=-1)).code == "invalid_argument"


def test_end_in_an_error_when_the_service_refuses_them_or_the_connection_breaks_off(
    service: ScriptedService, client: Driver
) -> None:
    def breaks_off(exchange: Exchange) -> None:
        exchange.start(200, content_length="5")
        exchange.wfile.write(b"he")
        exchange.drop()

    service.answers(problem("not_found", 404), problem("too_large", 413), breaks_off)
    assert client.failure(lambda c: c.files.download("demo", "a")).code == "not_found"
    assert client.failure(lambda c: c.files.upload("demo", "a", b"x")).code == "too_large"
    download = client.call(lambda c: c.files.download("demo", "a"))
    with pytest.raises(UnavailableError):
        client.call(lambda _: download.read())


def test_stop_coming_when_they_are_left(service: ScriptedService, client: Driver) -> None:
    def begins(exchange: Exchange) -> None:
        exchange.start(200, content_length="5")
        exchange.wfile.write(b"he")
        exchange.wait_until_left()

    service.answers(begins)
    download = client.call(lambda c: c.files.download("demo", "a"))
    assert client.first(1, lambda _: download) == [b"he"]
    client.call(lambda _: download.close())
    client.until(service.left)


def test_take_little_memory_whatever_their_size(service: ScriptedService, client: Driver) -> None:
    size = 64 * 1024 * 1024

    def much() -> Iterator[bytes]:
        for _ in range(size // 65536):
            yield bytes(65536)

    def counted(exchange: Exchange) -> None:
        exchange.whole(200, "application/json", b"{}")

    def many(exchange: Exchange) -> None:
        exchange.start(200, content_length=str(size))
        for piece in much():
            exchange.wfile.write(piece)

    service.discards_bodies = True
    service.answers(counted, many)
    tracemalloc.start()
    client.call(lambda c: c.files.upload("demo", "a", much()))
    download = client.call(lambda c: c.files.download("demo", "a"))
    assert sum_of_lengths(client, download) == size
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 * 1024 * 1024


def sum_of_lengths(client: Driver, download: object) -> int:
    length = 0

    def add(piece: bytes) -> None:
        nonlocal length
        length += len(piece)

    client.each(lambda _: download, add)
    return length
