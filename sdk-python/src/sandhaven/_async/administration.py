"""Calls administration actions of the service, such as ListUsers; actions are no tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from .._bodies import MAX_RESULT_BYTES
from .._calls import given
from .._paths import segment
from .._records import AccessToken, DeletedSession, DeletedSnapshot, PublicPorts, RevokedAccess, SandboxToken
from .call import encoded
from .clock import AsyncClock
from .connection import AsyncConnection


class AsyncAdministration:
    """Actions of the administration, by name."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def call(
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
        return await clock.run(lambda: self._post(f"/v1/admin/{segment(action)}", content, clock))

    async def _post(self, path: str, content: bytes, clock: AsyncClock) -> dict[str, Any]:
        connection = self._connection
        headers = {"Content-Type": "application/json"}
        response = await connection.send("POST", path, clock, headers=headers, content=content)
        try:
            with connection.explaining(clock):
                return await connection.object_of(response, clock, MAX_RESULT_BYTES)
        finally:
            await response.aclose()


class AsyncAccess:
    """Revokes access given out with create_ssh_access and get_port_preview_url."""

    def __init__(self, administration: AsyncAdministration) -> None:
        self._administration = administration

    async def revoke(
        self,
        sandbox: str,
        *,
        kind: Literal["ssh", "preview", "token"] | None = None,
        call_timeout_seconds: float | None = None,
    ) -> RevokedAccess:
        """Ends every SSH token, signed preview URL, preview token and own token of one of the caller's sandboxes.

        Connections open by them end too.

        Args:
            sandbox: Name or ID.
            kind: Revokes only this kind, `token` with previews; all without it.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        parameters = {"sandbox": sandbox, "kind": kind}
        revoked = await self._administration.call("RevokeAccess", parameters, call_timeout_seconds=call_timeout_seconds)
        return cast(RevokedAccess, revoked)

    async def create_token(
        self, sandbox: str, *, expires_in_minutes: int | None = None, call_timeout_seconds: float | None = None
    ) -> SandboxToken:
        """Makes a token that opens the files, programs and previews of one of the caller's own sandboxes.

        It opens nothing else.

        Args:
            sandbox: Name or ID.
            expires_in_minutes: At most 30 days (default: 60).
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        parameters = {"sandbox": sandbox, "expires_in_minutes": expires_in_minutes}
        made = await self._administration.call(
            "CreateSandboxToken", parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(SandboxToken, made)

    async def public_ports(self, sandbox: str, *, call_timeout_seconds: float | None = None) -> PublicPorts:
        """Shows which ports of one of the caller's own sandboxes everybody may visit."""
        shown = await self._administration.call(
            "GetPublicPorts", {"sandbox": sandbox}, call_timeout_seconds=call_timeout_seconds
        )
        return cast(PublicPorts, shown)

    async def set_public_ports(
        self, sandbox: str, ports: Literal["all"] | list[int], *, call_timeout_seconds: float | None = None
    ) -> PublicPorts:
        """Opens exactly these ports to everybody, where the operator allows it.

        Args:
            sandbox: Name or ID.
            ports: An empty list closes all.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        wanted = {"all": True} if ports == "all" else {"ports": ports}
        parameters = {"sandbox": sandbox, **wanted}
        shown = await self._administration.call("SetPublicPorts", parameters, call_timeout_seconds=call_timeout_seconds)
        return cast(PublicPorts, shown)

    async def revoke_token(self, sandbox: str, token: str, *, call_timeout_seconds: float | None = None) -> AccessToken:
        """Ends one SSH token, or the token of one signed preview URL, and the connections that are open by it.

        Args:
            sandbox: Name or ID.
            token: The token.
            call_timeout_seconds: Longest time of the call (default: the client's).
        """
        parameters = {"sandbox": sandbox, "token": token}
        revoked = await self._administration.call(
            "RevokeAccessToken", parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(AccessToken, revoked)

    async def show(self, token: str, *, call_timeout_seconds: float | None = None) -> AccessToken:
        """Shows what a token of one of the caller's sandboxes gives access to; not_found for one that gives none."""
        shown = await self._administration.call(
            "GetAccessToken", {"token": token}, call_timeout_seconds=call_timeout_seconds
        )
        return cast(AccessToken, shown)


class AsyncSnapshots:
    """Deletes snapshots; tools make and list them."""

    def __init__(self, administration: AsyncAdministration) -> None:
        self._administration = administration

    async def delete(self, snapshot: str, *, call_timeout_seconds: float | None = None) -> DeletedSnapshot:
        """Deletes one of the caller's own, by name or ID, for good and in any state.

        Sandboxes made from it keep running unchanged.
        """
        parameters = {"snapshot": snapshot}
        deleted = await self._administration.call(
            "DeleteSnapshot", parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(DeletedSnapshot, deleted)


class AsyncSessions:
    """Deletes sessions; tools make, list and use them."""

    def __init__(self, administration: AsyncAdministration) -> None:
        self._administration = administration

    async def delete(
        self, sandbox: str, session_id: str, *, call_timeout_seconds: float | None = None
    ) -> DeletedSession:
        """Kills the shell with all that it has started, and forgets the logs of its commands.

        Returns once all has ended; the ID is free again. The sandbox is a name or ID.
        """
        parameters = {"sandbox": sandbox, "session_id": session_id}
        deleted = await self._administration.call(
            "DeleteSession", parameters, call_timeout_seconds=call_timeout_seconds
        )
        return cast(DeletedSession, deleted)
