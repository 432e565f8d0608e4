"""Calls administration actions of the service, such as ListUsers; actions are no tools."""
# Made from _async/administration.py by `make generate`; never edited by hand.

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from .._bodies import MAX_RESULT_BYTES
from .._calls import given
from .._paths import segment
from .._records import DeletedSnapshot, RevokedAccess
from .call import encoded
from .clock import Clock
from .connection import Connection


class Administration:
    """Actions of the administration, by name."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def call(
        self,
        action: str,
        parameters: Mapping[str, object] | None = None,
        *,
        call_timeout_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Calls one action, such as "ListUsers"; it is never sent twice.

        `GET /v1/admin` of the service describes each action with its parameters and its result.
        """
        content = encoded(given(parameters or {}))
        clock = self._connection.begin(call_timeout_seconds)
        return clock.run(lambda: self._post(f"/v1/admin/{segment(action)}", content, clock))

    def _post(self, path: str, content: bytes, clock: Clock) -> dict[str, Any]:
        connection = self._connection
        headers = {"Content-Type": "application/json"}
        response = connection.send("POST", path, clock, headers=headers, content=content)
        try:
            with connection.explaining(clock):
                return connection.object_of(response, clock, MAX_RESULT_BYTES)
        finally:
            response.close()


class Access:
    """Revokes access given out with create_ssh_access and get_port_preview_url."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    def revoke(
        self,
        sandbox: str,
        *,
        kind: Literal["ssh", "preview"] | None = None,
        call_timeout_seconds: float | None = None,
    ) -> RevokedAccess:
        """Ends every SSH token, signed preview URL and standard preview token of one of the caller's own sandboxes.

        Connections open by them end too.

        Args:
            sandbox: Name or ID.
            kind: Revokes only this kind; both without it.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        parameters = {"sandbox": sandbox, "kind": kind}
        revoked = self._administration.call("RevokeAccess", parameters, call_timeout_seconds=call_timeout_seconds)
        return cast(RevokedAccess, revoked)


class Snapshots:
    """Deletes snapshots; tools make and list them."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    def delete(self, snapshot: str, *, call_timeout_seconds: float | None = None) -> DeletedSnapshot:
        """Deletes one of the caller's own, by name or ID, for good and in any state.

        Sandboxes made from it keep running unchanged.
        """
        parameters = {"snapshot": snapshot}
        deleted = self._administration.call(
            "DeleteSnapshot", parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(DeletedSnapshot, deleted)
