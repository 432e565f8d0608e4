"""A call: what is sent, what comes back, and the errors of it."""

from __future__ import annotations

import pickle

import pytest
from conftest import Connect
from driver import Driver
from scripted_service import Exchange, ScriptedService, foreign, problem, result

import sandhaven
from sandhaven import NotFoundError, SandhavenError, UnauthenticatedError


def test_posts_the_parameters_with_the_key_and_gives_the_result(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"user_id": "u"}))
    assert client.call(lambda c: c.who_am_i()) == {"user_id": "u"}
    [asked] = service.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/v1/tools/Sandbox.WhoAmI", "{}")
    assert asked.headers["authorization"] == "Bearer key"


def test_leaves_out_parameters_that_are_none(service: ScriptedService, client: Driver) -> None:
    service.answers(result({}))
    client.call(lambda c: c.list_files(path=None, offset=0))
    assert service.bodies() == [{"offset": 0}]


def test_takes_url_and_key_from_the_environment(
    service: ScriptedService, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SANDBOX_API_URL", f"{service.url}/")
    monkeypatch.setenv("SANDBOX_API_KEY", "from env\n")
    service.answers(result({}))
    connect(url=None, api_key=sandhaven.Default.ENVIRONMENT).call(lambda c: c.who_am_i())
    assert service.asked[0].path == "/v1/tools/Sandbox.WhoAmI"
    assert service.asked[0].headers["authorization"] == "Bearer from env"


def test_is_refused_at_once_without_a_key(kind: str) -> None:
    with pytest.raises(UnauthenticatedError, match="There is no API key"):
        Driver(kind)


def test_sends_no_key_where_a_proxy_adds_it(service: ScriptedService, connect: Connect) -> None:
    service.answers(result({}))
    connect(api_key=None).call(lambda c: c.who_am_i())
    assert "authorization" not in service.asked[0].headers


def test_carries_headers_of_the_callers_own_none_in_place_of_the_clients(
    service: ScriptedService, connect: Connect
) -> None:
    service.answers(result({}))
    headers = {"x-own": "1", "authorization": "Bearer other", "content-type": "text/plain", "accept-encoding": "gzip"}
    connect(headers=headers, team="red").call(lambda c: c.who_am_i())
    sent = service.asked[0].headers
    assert sent["x-own"] == "1"
    assert sent["authorization"] == "Bearer key"
    assert sent["content-type"] == "application/json"
    assert sent["accept-encoding"] == "identity"
    assert sent["sandhaven-team"] == "red"


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"url": "127.0.0.1:7420"}, "url"),
        ({"url": "ftp://host"}, "url"),
        ({"url": "http://"}, "url"),
        ({"url": "http://user:secret@host"}, "url"),
        ({"headers": {"x": "a\r\nb: c"}}, "headers"),
        ({"headers": {"x y": "a"}}, "headers"),
        ({"team": "röd"}, "headers"),
        ({"max_retries": -1}, "max_retries"),
        ({"call_timeout_seconds": 0}, "call_timeout_seconds"),
        ({"call_timeout_seconds": float("nan")}, "call_timeout_seconds"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_any_request(
    kind: str, options: dict[str, object], parameter: str
) -> None:
    with pytest.raises(SandhavenError) as raised:
        Driver(kind, **{"api_key": "key", **options})
    assert (raised.value.code, raised.value.parameter) == ("invalid_argument", parameter)
    assert raised.value.hint
    assert "secret" not in str(raised.value)


def test_parameters_that_json_does_not_have_are_refused(service: ScriptedService, client: Driver) -> None:
    error = client.failure(lambda c: c.run_command(command={1, 2}))
    assert error.code == "invalid_argument"
    error = client.failure(lambda c: c.list_files(offset=float("nan")))
    assert error.code == "invalid_argument"
    assert service.asked == []


def test_raises_the_services_error_field_by_field(service: ScriptedService, client: Driver) -> None:
    more = {"hint": "Do this.", "parameter": "sandbox", "resource": "sandbox", "authorization_url": "https://a/"}
    service.answers(problem("not_found", 404, **more))
    error = client.failure(lambda c: c.get_sandbox(sandbox="x"))
    assert type(error) is NotFoundError
    assert str(error) == "It is not_found."
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)
    assert {name: value for name, value in vars(error).items() if not name.startswith("_")} == {
        "code": "not_found",
        "status": 404,
        "detail": "It is not_found.",
        "hint": "Do this.",
        "parameter": "sandbox",
        "resource": "sandbox",
        "retryable": False,
        "request_id": "req_1",
        "authorization_url": "https://a/",
        "retry_after_seconds": None,
    }


@pytest.mark.parametrize(
    ("code", "status", "name"),
    [
        ("invalid_argument", 400, "InvalidArgumentError"),
        ("ambiguous_sandbox", 400, "AmbiguousSandboxError"),
        ("unauthenticated", 401, "UnauthenticatedError"),
        ("authorization_required", 401, "AuthorizationRequiredError"),
        ("permission_denied", 403, "PermissionDeniedError"),
        ("not_found", 404, "NotFoundError"),
        ("already_exists", 409, "AlreadyExistsError"),
        ("invalid_state", 409, "InvalidStateError"),
        ("failed_precondition", 412, "FailedPreconditionError"),
        ("too_large", 413, "TooLargeError"),
        ("resource_exhausted", 429, "ResourceExhaustedError"),
        ("timeout", 504, "TimedOutError"),
        ("unavailable", 503, "UnavailableError"),
        ("internal", 500, "InternalError"),
        ("of_a_newer_service", 418, "SandhavenError"),
    ],
)
def test_each_code_has_a_class(service: ScriptedService, client: Driver, code: str, status: int, name: str) -> None:
    service.answers(problem(code, status))
    error = client.failure(lambda c: c.who_am_i())
    assert (type(error).__name__, error.code, error.status) == (name, code, status)
    assert isinstance(error, SandhavenError)


@pytest.mark.parametrize(("status", "code", "retryable"), [(404, "internal", False), (502, "unavailable", True)])
def test_maps_a_strangers_answer(
    service: ScriptedService, client: Driver, status: int, code: str, retryable: bool
) -> None:
    service.answers(foreign(status, b"<h1>gateway</h1>"))
    error = client.failure(lambda c: c.who_am_i(max_retries=0))
    assert (error.code, error.status, error.retryable) == (code, status, retryable)


def test_does_not_take_the_key_to_where_it_is_redirected(service: ScriptedService, client: Driver) -> None:
    def elsewhere(exchange: Exchange) -> None:
        exchange.start(307, location=f"{service.url}/elsewhere", content_length="0")

    service.answers(elsewhere)
    error = client.failure(lambda c: c.who_am_i())
    assert (error.code, error.status) == ("unavailable", 0)
    assert "another address" in error.detail
    assert len(service.asked) == 1


def test_a_service_that_is_not_there(kind: str) -> None:
    driver = Driver(kind, url="http://127.0.0.1:9", api_key="key", max_retries=0)
    error = driver.failure(lambda c: c.who_am_i())
    assert (error.code, error.status, error.retryable) == ("unavailable", 0, True)
    driver.close()


def test_deletes_snapshots_and_revokes_access(service: ScriptedService, client: Driver) -> None:
    deleted = {"id": "snap_1", "name": "a b", "deleted": True}
    revoked = {"sandbox": "sb_1", "ssh": 2, "previews": 3, "revoked": True}
    service.answers(result(deleted), result(revoked), result(revoked), problem("not_found", 404))
    assert client.call(lambda c: c.snapshots.delete("a b")) == deleted
    assert client.call(lambda c: c.access.revoke("my box")) == revoked
    client.call(lambda c: c.access.revoke("my box", kind="ssh"))
    assert client.failure(lambda c: c.snapshots.delete("none")).code == "not_found"
    assert [(path, body) for _, path, _, body in service.asked] == [
        ("/v1/admin/DeleteSnapshot", '{"snapshot":"a b"}'),
        ("/v1/admin/RevokeAccess", '{"sandbox":"my box"}'),
        ("/v1/admin/RevokeAccess", '{"sandbox":"my box","kind":"ssh"}'),
        ("/v1/admin/DeleteSnapshot", '{"snapshot":"none"}'),
    ]


def test_shows_and_revokes_one_token(service: ScriptedService, client: Driver) -> None:
    token = {"sandbox": "sb_1", "kind": "ssh", "port": None, "created_at": "then", "expires_at": None}
    service.answers(result(token), result(token))
    assert client.call(lambda c: c.access.show("secret")) == token
    assert client.call(lambda c: c.access.revoke_token("my box", "secret")) == token
    assert [(path, body) for _, path, _, body in service.asked] == [
        ("/v1/admin/GetAccessToken", '{"token":"secret"}'),
        ("/v1/admin/RevokeAccessToken", '{"sandbox":"my box","token":"secret"}'),
    ]


def test_calls_an_action_by_its_name_which_stays_one_part_of_the_path_and_never_twice(
    service: ScriptedService, client: Driver
) -> None:
    unavailable = problem("unavailable", 503, retryable=True)
    service.answers(result({"users": []}), unavailable, unavailable)
    assert client.call(lambda c: c.administration.call("ListUsers", {"page": 2})) == {"users": []}
    assert client.failure(lambda c: c.administration.call("../tools/x")).code == "unavailable"
    assert client.failure(lambda c: c.administration.call("..")).code == "unavailable"
    assert [(path, body) for _, path, _, body in service.asked] == [
        ("/v1/admin/ListUsers", '{"page":2}'),
        ("/v1/admin/..%2Ftools%2Fx", "{}"),
        ("/v1/admin/%2E%2E", "{}"),
    ]


def test_tools_for_documents_have_a_namespace(service: ScriptedService, client: Driver) -> None:
    service.answers(result({"result": 3}))
    counted = client.call(lambda c: c.document_db.count_documents(database_name="shop", collection_name="orders"))
    assert counted == {"result": 3}
    assert service.asked[0].path == "/v1/tools/DocumentDb.CountDocuments"
    assert service.bodies() == [{"database_name": "shop", "collection_name": "orders"}]
