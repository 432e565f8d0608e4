"""The client for asyncio. Generated from the service's catalogue by `make generate`; never edited by hand."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from types import TracebackType
from typing import Literal, cast

import httpx

from .._async.administration import AsyncAccess, AsyncAdministration, AsyncSnapshots
from .._async.call import call_tool
from .._async.changes import changes_of
from .._async.connection import AsyncConnection
from .._async.files import AsyncFiles
from .._async.pages import by_offset, by_page
from .._async.preview import AsyncPreview
from .._calls import CallOptions, OnProgress
from .._follow import SandboxChange
from .._output import OnBytes, OnOutput
from .._settings import Default, settings_of
from . import facts, types


class AsyncSandhaven:
    """Calls the tools of one service.

    It keeps connections for later calls: use it in `async with`, or close it.

    Args:
        api_key: By default SANDBOX_API_KEY. None sends none, for a proxy that adds it.
        url: By default SANDBOX_API_URL, else http://127.0.0.1:7420.
        team: Team to act for, by name or ID: it owns what the calls work with.
        max_retries: Most retries of a transient failure, where they are safe.
        call_timeout_seconds: Longest time of a call, with all its retries (default: no limit).
        headers: Sent with every request. The client's own replace those of the same name.
        transport: Replaces that of httpx, for certificates and proxies of your own.
    """

    def __init__(
        self,
        *,
        api_key: str | Default | None = Default.ENVIRONMENT,
        url: str | None = None,
        team: str | None = None,
        max_retries: int = 2,
        call_timeout_seconds: float | None = None,
        headers: Mapping[str, str] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        connection = AsyncConnection(
            settings_of(api_key, url, headers, team),
            max_retries=max_retries,
            call_timeout_seconds=call_timeout_seconds,
            transport=transport,
        )
        self._connection = connection
        self.files = AsyncFiles(connection)
        self.administration = AsyncAdministration(connection)
        self.access = AsyncAccess(self.administration)
        self.snapshots = AsyncSnapshots(self.administration)
        self.iterate = AsyncIterate(self)
        self.document_db = AsyncDocumentDb(connection)

    async def close(self) -> None:
        """Closes its connections; calls in progress end."""
        await self._connection.close()

    async def __aenter__(self) -> AsyncSandhaven:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def changes(
        self,
        *,
        usage: bool = False,
        snapshots: bool = False,
        audit: bool = False,
        network: str | None = None,
        health: bool = False,
    ) -> AsyncGenerator[SandboxChange, None]:
        """Changes of your sandboxes as they happen, until you leave the loop; connects again by itself.

        List at each change of type "refresh", which is also the first.

        Args:
            usage: Also what started sandboxes use, each few seconds.
            snapshots: Also changes of snapshots, and how far one is that is being made.
            audit: Also new rows of the audit log: an admin's all, a member's own.
            network: Name or id of a sandbox: also new events of its network log.
            health: Also the health of the service, for admins.
        """
        choices = {"usage": usage, "snapshots": snapshots, "audit": audit, "network": network, "health": health}
        return changes_of(self._connection, choices)

    def preview(self, sandbox: str, port: int) -> AsyncPreview:
        """A port of a sandbox, to send requests to: `await client.preview("demo", 8000).fetch("/")`.

        Args:
            sandbox: Name or ID.
            port: Port inside the sandbox.
        """
        return AsyncPreview(self._connection, lambda: self.get_port_preview_url(sandbox=sandbox, port=port))

    async def create_sandbox(
        self,
        *,
        name: str | None = None,
        language: Literal["python", "typescript", "javascript"] | None = None,
        snapshot: str | None = None,
        image: str | None = None,
        env_vars: dict[str, str] | None = None,
        auto_stop_minutes: int | None = None,
        cpu: int | None = None,
        memory_gb: int | None = None,
        disk_gb: int | None = None,
        gpu: int | None = None,
        labels: dict[str, str] | None = None,
        network: Literal["open", "none"] | types.CreateSandboxNetworkParameter | None = None,
        secrets: list[str] | None = None,
        ephemeral: bool | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
        idempotency_key: str | None = None,
    ) -> types.CreateSandboxResult:
        """Creates an isolated Linux machine, ready at once. Without snapshot and image it is Debian 13
        with Python 3.13 (numpy, pandas, matplotlib, requests, pytest), Node 24, git, curl, ripgrep
        and build tools. Returns the sandbox. already_exists: take another name. resource_exhausted:
        delete or stop one.

        Args:
            name: Unique name: 1-63 letters, digits, space . _ - (default: generated).
            language: What run_code runs, fixed for good (default python).
            snapshot: Snapshot name or ID; excludes image, ignores cpu to gpu.
            image: Container image, such as debian:13; excludes snapshot (default: base).
            env_vars: Environment variables, as strings (default: none).
            auto_stop_minutes: Idle minutes until it stops; 0: never (from 0, default 15).
            cpu: vCPUs (1-16, default 2).
            memory_gb: Memory in GB (1-64, default 4).
            disk_gb: Disk in GB (1-200, default 20).
            gpu: GPUs (0-8, default 0).
            labels: Labels, as strings (default: none).
            network: Rules like https://api.example.com; profiles packages, git, llm.
            secrets: Secrets it may use, by name.
            ephemeral: Delete it when it stops (default false).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.
            idempotency_key: Makes a call of yours that you repeat safe (default: a random one).

        Raises:
            AlreadyExistsError: take another name.
            ResourceExhaustedError: delete or stop one.
        """
        parameters: dict[str, object] = {
            "name": name,
            "language": language,
            "snapshot": snapshot,
            "image": image,
            "env_vars": env_vars,
            "auto_stop_minutes": auto_stop_minutes,
            "cpu": cpu,
            "memory_gb": memory_gb,
            "disk_gb": disk_gb,
            "gpu": gpu,
            "labels": labels,
            "network": network,
            "secrets": secrets,
            "ephemeral": ephemeral,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
            idempotency_key=idempotency_key,
        )
        return cast(types.CreateSandboxResult, await call_tool(self._connection, facts.create_sandbox, parameters, options))

    async def get_sandbox(
        self,
        *,
        sandbox: str,
        include_raw_env_vars: bool | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GetSandboxResult:
        """Shows one sandbox: state, resources, labels, automatic stop, archive and delete, times,
        usage (memory_bytes and disk_bytes in use now), secrets and env_vars with secret-looking
        values redacted. Does not count as activity.

        Args:
            sandbox: Name or ID.
            include_raw_env_vars: Show redacted env_vars too (default false).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "include_raw_env_vars": include_raw_env_vars,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GetSandboxResult, await call_tool(self._connection, facts.get_sandbox, parameters, options))

    async def list_sandboxes(
        self,
        *,
        state: Literal["started", "stopped", "archived", "error"] | None = None,
        labels: dict[str, str] | None = None,
        page: int | None = None,
        page_size: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ListSandboxesResult:
        """Lists your sandboxes, newest first, by state or labels where given. A page past the end is
        empty.

        Args:
            state: Only those in this state.
            labels: Only those with all of these labels.
            page: Page number (from 1, default 1).
            page_size: Records a page (1-100, default 20).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
        """
        parameters: dict[str, object] = {
            "state": state,
            "labels": labels,
            "page": page,
            "page_size": page_size,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ListSandboxesResult, await call_tool(self._connection, facts.list_sandboxes, parameters, options))

    async def start_sandbox(
        self,
        *,
        sandbox: str,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.StartSandboxResult:
        """Starts a stopped or archived (slower) sandbox, or retries one in error. Files are as they
        were, processes are gone. No change when started. Returns the sandbox.

        Args:
            sandbox: Name or ID.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.

        Raises:
            NotFoundError: there is no such sandbox.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
        )
        return cast(types.StartSandboxResult, await call_tool(self._connection, facts.start_sandbox, parameters, options))

    async def stop_sandbox(
        self,
        *,
        sandbox: str,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.StopSandboxResult:
        """Stops a sandbox: processes end, files stay. One that is ephemeral or has auto_delete_minutes
        0 is deleted with it (deleted: true). No change when stopped. Returns the sandbox.

        Args:
            sandbox: Name or ID.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.

        Raises:
            NotFoundError: there is no such sandbox.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
        )
        return cast(types.StopSandboxResult, await call_tool(self._connection, facts.stop_sandbox, parameters, options))

    async def archive_sandbox(
        self,
        *,
        sandbox: str,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.ArchiveSandboxResult:
        """Compresses a stopped sandbox to save storage; start_sandbox brings it back. invalid_state:
        call stop_sandbox first. Returns the sandbox.

        Args:
            sandbox: Name or ID.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.

        Raises:
            NotFoundError: there is no such sandbox.
            InvalidStateError: call stop_sandbox first.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
        )
        return cast(types.ArchiveSandboxResult, await call_tool(self._connection, facts.archive_sandbox, parameters, options))

    async def delete_sandbox(
        self,
        *,
        sandbox: str,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.DeleteSandboxResult:
        """Deletes a sandbox and everything in it, for good, from any state.

        Args:
            sandbox: Name or ID.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.DeleteSandboxResult, await call_tool(self._connection, facts.delete_sandbox, parameters, options))

    async def configure_sandbox_auto(
        self,
        *,
        sandbox: str,
        auto_stop_minutes: int | None = None,
        auto_archive_minutes: int | None = None,
        auto_delete_minutes: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ConfigureSandboxAutoResult:
        """Changes after how long a sandbox stops, is archived and deleted by itself. Give at least
        one; the others stay. Activity: calls that work in it, running foreground and session
        commands, SSH, previews; not background processes, nor looking at it. auto_delete_minutes 0
        deletes one that is stopped already (deleted: true). Returns the sandbox.

        Args:
            sandbox: Name or ID.
            auto_stop_minutes: Idle minutes until it stops; 0: never (from 0).
            auto_archive_minutes: Stopped minutes until it is archived; 0: the maximum (0-43200).
            auto_delete_minutes: Stopped minutes until it is deleted; 0: at the stop, -1: never
                (from -1).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "auto_stop_minutes": auto_stop_minutes,
            "auto_archive_minutes": auto_archive_minutes,
            "auto_delete_minutes": auto_delete_minutes,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ConfigureSandboxAutoResult, await call_tool(self._connection, facts.configure_sandbox_auto, parameters, options))

    async def resize_sandbox(
        self,
        *,
        sandbox: str,
        cpu: int | None = None,
        memory_gb: int | None = None,
        disk_gb: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ResizeSandboxResult:
        """Changes vCPUs, memory or disk: at least one, all or nothing. Started: cpu and memory_gb can
        only grow. disk_gb never shrinks and needs a stopped sandbox (invalid_state: stop_sandbox
        first). Returns the sandbox.

        Args:
            sandbox: Name or ID.
            cpu: vCPUs (1-16).
            memory_gb: Memory in GB (1-64).
            disk_gb: New total disk in GB (1-200).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            InvalidStateError: stop_sandbox first.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "cpu": cpu,
            "memory_gb": memory_gb,
            "disk_gb": disk_gb,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ResizeSandboxResult, await call_tool(self._connection, facts.resize_sandbox, parameters, options))

    async def set_sandbox_labels(
        self,
        *,
        sandbox: str,
        labels: dict[str, str],
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.SetSandboxLabelsResult:
        """Replaces all labels of a sandbox; {} removes them. To add one, give the present ones too
        (get_sandbox shows them). Returns the sandbox.

        Args:
            sandbox: Name or ID.
            labels: All labels, as strings; at most 64.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "labels": labels,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.SetSandboxLabelsResult, await call_tool(self._connection, facts.set_sandbox_labels, parameters, options))

    async def create_snapshot(
        self,
        *,
        name: str,
        image: str,
        entrypoint: list[str] | None = None,
        resources: types.CreateSnapshotResources | None = None,
        region_id: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        idempotency_key: str | None = None,
    ) -> types.CreateSnapshotResult:
        """Makes a named template from a container image, for create_sandbox with `snapshot`. Answers at
        once with state pending; call get_snapshot until it is active (minutes for a large image) or
        in error. already_exists: take another name; one in error is replaced.

        Args:
            name: Unique name: 1-63 letters, digits, space . _ -.
            image: Container image, such as debian:13.
            entrypoint: Program and arguments, started with every sandbox; the image's own is not.
            resources: Sizes; memory and disk in GB (default 2, 4, 20, 0).
            region_id: Region (default: the closest).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            idempotency_key: Makes a call of yours that you repeat safe (default: a random one).

        Raises:
            AlreadyExistsError: take another name; one in error is replaced.
        """
        parameters: dict[str, object] = {
            "name": name,
            "image": image,
            "entrypoint": entrypoint,
            "resources": resources,
            "region_id": region_id,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            idempotency_key=idempotency_key,
        )
        return cast(types.CreateSnapshotResult, await call_tool(self._connection, facts.create_snapshot, parameters, options))

    async def get_snapshot(
        self,
        *,
        snapshot: str,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GetSnapshotResult:
        """Shows one snapshot: state (pending, pulling, active or error, with state_reason), image,
        resources, entrypoint and size. not_found: see list_snapshots.

        Args:
            snapshot: Snapshot name or ID.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: see list_snapshots.
        """
        parameters: dict[str, object] = {
            "snapshot": snapshot,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GetSnapshotResult, await call_tool(self._connection, facts.get_snapshot, parameters, options))

    async def list_snapshots(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ListSnapshotsResult:
        """Lists your snapshots, newest first, and last the base image as "base". A page past the end
        is empty.

        Args:
            page: Page number (from 1, default 1).
            page_size: Records a page (1-100, default 20).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
        """
        parameters: dict[str, object] = {
            "page": page,
            "page_size": page_size,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ListSnapshotsResult, await call_tool(self._connection, facts.list_snapshots, parameters, options))

    async def list_regions(
        self,
        *,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ListRegionsResult:
        """Lists the regions that sandboxes run in: id, name, location (country, city).

        Args:
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
        """
        parameters: dict[str, object] = {}
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ListRegionsResult, await call_tool(self._connection, facts.list_regions, parameters, options))

    async def who_am_i(
        self,
        *,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.WhoAmIResult:
        """Shows the owner of this API key: user_id, name and email.

        Args:
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
        """
        parameters: dict[str, object] = {}
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.WhoAmIResult, await call_tool(self._connection, facts.who_am_i, parameters, options))

    async def create_ssh_access(
        self,
        *,
        sandbox: str,
        expires_in_minutes: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.CreateSshAccessResult:
        """Makes a token to log in to a started sandbox by ssh, scp, sftp, rsync or an editor, and
        returns the command. access_token is secret: the password of username, or the user name
        alone. Open connections end when it expires.

        Args:
            sandbox: Name or ID.
            expires_in_minutes: Minutes, 0 = never expires (from 0, default 60).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "expires_in_minutes": expires_in_minutes,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.CreateSshAccessResult, await call_tool(self._connection, facts.create_ssh_access, parameters, options))

    async def list_ports(
        self,
        *,
        sandbox: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ListPortsResult:
        """Lists the TCP ports that programs in a started sandbox listen on, with name, pid and command
        of the process. Use it to see whether a server is up, then get_port_preview_url to show it.

        Args:
            sandbox: Name or ID, if you have several.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ListPortsResult, await call_tool(self._connection, facts.list_ports, parameters, options))

    async def get_port_preview_url(
        self,
        *,
        sandbox: str,
        port: int,
        signed: bool | None = None,
        expires_in_seconds: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GetPortPreviewUrlResult:
        """Gives the URL of what a started sandbox serves over HTTP on a port. Standard: send `token`
        in the header named by `header`. signed: any browser can open it until expires_at; it is a
        secret. A 502 there: nothing listens; see list_ports.

        Args:
            sandbox: Name or ID.
            port: Port inside the sandbox (1-65535).
            signed: For browsers: the URL itself is the key (default false).
            expires_in_seconds: Life of a signed URL (1-315360000, default 3600).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "port": port,
            "signed": signed,
            "expires_in_seconds": expires_in_seconds,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GetPortPreviewUrlResult, await call_tool(self._connection, facts.get_port_preview_url, parameters, options))

    async def list_files(
        self,
        *,
        path: str | None = None,
        sandbox: str | None = None,
        pattern: str | None = None,
        max_items: int | None = None,
        offset: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ListFilesResult:
        """Lists one directory, sorted by name, hidden files included: name, type (file or dir), size,
        link. To search below, use find_files.

        Args:
            path: Directory (default: /workspace).
            sandbox: Name or ID, if you have several.
            pattern: Only names that match this glob, such as *.py.
            max_items: Most to return (1-200, default 50).
            offset: How many to skip (from 0, default 0).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "path": path,
            "sandbox": sandbox,
            "pattern": pattern,
            "max_items": max_items,
            "offset": offset,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ListFilesResult, await call_tool(self._connection, facts.list_files, parameters, options))

    async def find_files(
        self,
        *,
        pattern: str,
        path: str | None = None,
        sandbox: str | None = None,
        max_items: int | None = None,
        offset: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.FindFilesResult:
        """Finds files and directories by name below a directory, hidden ones included, links not
        followed. Returns sorted paths. To search contents, use search_content.

        Args:
            pattern: Glob on the file name, not the path, such as *.test.ts.
            path: Directory to search (default: /workspace).
            sandbox: Name or ID, if you have several.
            max_items: Most to return (1-200, default 50).
            offset: How many to skip (from 0, default 0).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "pattern": pattern,
            "path": path,
            "sandbox": sandbox,
            "max_items": max_items,
            "offset": offset,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.FindFilesResult, await call_tool(self._connection, facts.find_files, parameters, options))

    async def get_file_info(
        self,
        *,
        path: str,
        sandbox: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GetFileInfoResult:
        """Shows type (file, dir, symlink, other), size, permissions, owner and modified_time of one
        path. A link is shown itself, not its target.

        Args:
            path: File or directory, absolute or from /workspace.
            sandbox: Name or ID, if you have several.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "path": path,
            "sandbox": sandbox,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GetFileInfoResult, await call_tool(self._connection, facts.get_file_info, parameters, options))

    async def read_file(
        self,
        *,
        path: str,
        sandbox: str | None = None,
        start_line: int | None = None,
        end_line: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ReadFileResult:
        """Reads a file or a range of its lines. Returns content, size and total_lines; what is not
        UTF-8 comes as base64 (encoding says so). too_large (over 16 MiB): read it in ranges.

        Args:
            path: File, absolute or from /workspace.
            sandbox: Name or ID, if you have several.
            start_line: First line (from 1).
            end_line: Last line, included (from 1).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            TooLargeError: (over 16 MiB): read it in ranges.
        """
        parameters: dict[str, object] = {
            "path": path,
            "sandbox": sandbox,
            "start_line": start_line,
            "end_line": end_line,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ReadFileResult, await call_tool(self._connection, facts.read_file, parameters, options))

    async def write_file(
        self,
        *,
        path: str,
        content: str,
        sandbox: str | None = None,
        create_parents: bool | None = None,
        encoding: Literal["utf-8", "base64"] | None = None,
        durable: bool | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.WriteFileResult:
        """Creates a file or replaces it atomically, keeping its mode. To change a part, replace_in_files
        is shorter. Over 16 MiB: PUT /v1/sandboxes/{sandbox}/files.

        Args:
            path: File, absolute or from /workspace.
            content: All of the new content.
            sandbox: Name or ID, if you have several.
            create_parents: Make missing parent folders (default true).
            encoding: Of content; base64 for binary (default utf-8).
            durable: Safe from a power cut once answered.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "path": path,
            "content": content,
            "sandbox": sandbox,
            "create_parents": create_parents,
            "encoding": encoding,
            "durable": durable,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.WriteFileResult, await call_tool(self._connection, facts.write_file, parameters, options))

    async def create_folder(
        self,
        *,
        path: str,
        sandbox: str | None = None,
        mode: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.CreateFolderResult:
        """Creates a directory and its missing parents. One that exists stays (created: false).
        already_exists: another kind of file is there.

        Args:
            path: Directory, absolute or from /workspace.
            sandbox: Name or ID, if you have several.
            mode: Unix permissions, 3 or 4 octal digits (default '755').
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            AlreadyExistsError: another kind of file is there.
        """
        parameters: dict[str, object] = {
            "path": path,
            "sandbox": sandbox,
            "mode": mode,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.CreateFolderResult, await call_tool(self._connection, facts.create_folder, parameters, options))

    async def move_file(
        self,
        *,
        source: str,
        destination: str,
        sandbox: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.MoveFileResult:
        """Moves or renames a file or directory and overwrites nothing: already_exists. not_found: the
        source or the destination folder is missing.

        Args:
            source: File or directory, absolute or from /workspace.
            destination: New path, with its last name, absolute or from /workspace.
            sandbox: Name or ID, if you have several.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            NotFoundError: the source or the destination folder is missing.
        """
        parameters: dict[str, object] = {
            "source": source,
            "destination": destination,
            "sandbox": sandbox,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.MoveFileResult, await call_tool(self._connection, facts.move_file, parameters, options))

    async def delete_file(
        self,
        *,
        path: str,
        sandbox: str | None = None,
        recursive: bool | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.DeleteFileResult:
        """Deletes a file, a link (never its target) or an empty directory. failed_precondition: the
        directory is not empty; set recursive to delete all in it.

        Args:
            path: File or directory, absolute or from /workspace.
            sandbox: Name or ID, if you have several.
            recursive: Delete a directory with all in it (default false).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            FailedPreconditionError: the directory is not empty; set recursive to delete all in it.
        """
        parameters: dict[str, object] = {
            "path": path,
            "sandbox": sandbox,
            "recursive": recursive,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.DeleteFileResult, await call_tool(self._connection, facts.delete_file, parameters, options))

    async def search_content(
        self,
        *,
        query: str,
        path: str | None = None,
        sandbox: str | None = None,
        file_pattern: str | None = None,
        context_lines: int | None = None,
        literal: bool | None = None,
        output: Literal["matches", "files", "counts"] | None = None,
        max_items: int | None = None,
        offset: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.SearchContentResult:
        """Finds lines in files as grep -rE does, hidden files included, binary ones skipped. Returns
        matching files by path, each with up to 50 matches (line, text; before, after with
        context_lines); capped: there are more. A query that is no valid expression is plain text
        (literal). timeout: narrow path or file_pattern.

        Args:
            query: Extended regular expression (grep -E, and \\d \\w \\s \\b \\1); foo(bar) needs
                literal.
            path: Directory or file (default: /workspace).
            sandbox: Name or ID, if you have several.
            file_pattern: Only files whose name matches this glob, such as *.py.
            context_lines: Lines around each match (0-5, default 0).
            literal: Plain text, no expression.
            output: Lines, only paths, or counts of lines (default matches).
            max_items: Most to return (1-200, default 50).
            offset: How many to skip (from 0, default 0).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            TimedOutError: narrow path or file_pattern.
        """
        parameters: dict[str, object] = {
            "query": query,
            "path": path,
            "sandbox": sandbox,
            "file_pattern": file_pattern,
            "context_lines": context_lines,
            "literal": literal,
            "output": output,
            "max_items": max_items,
            "offset": offset,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.SearchContentResult, await call_tool(self._connection, facts.search_content, parameters, options))

    async def replace_in_files(
        self,
        *,
        pattern: str,
        replacement: str,
        files: list[str],
        sandbox: str | None = None,
        literal: bool | None = None,
        dry_run: bool | None = None,
        exclude: list[str] | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ReplaceInFilesResult:
        """Replaces every match, line by line as sed -E s/…/…/g, each file atomically. Returns
        total_replacements and files named by path, or with a match or error; a failed file leaves
        the others edited. A pattern that is no valid expression is plain text (literal).

        Args:
            pattern: Extended regular expression within a line (\\b \\d \\w too); foo(bar) needs
                literal.
            replacement: New text; \\1-\\9 and & are what matched, \\& a plain &, \\n a newline.
            files: Paths or globs, from /workspace or absolute; ** is any depth: src/**/*.ts.
            sandbox: Name or ID, if you have several.
            literal: Plain text, no expression.
            dry_run: Count, and change nothing.
            exclude: Globs of names or paths to skip: node_modules.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "pattern": pattern,
            "replacement": replacement,
            "files": files,
            "sandbox": sandbox,
            "literal": literal,
            "dry_run": dry_run,
            "exclude": exclude,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ReplaceInFilesResult, await call_tool(self._connection, facts.replace_in_files, parameters, options))

    async def run_code(
        self,
        *,
        code: str,
        sandbox: str | None = None,
        timeout_seconds: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
        on_output: OnBytes | None = None,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
    ) -> types.RunCodeResult:
        """Runs code in the sandbox's language, without a shell. Each call starts afresh: no variables
        or imports are kept, files are. Returns output, exit_code and charts (every matplotlib
        figure); print what you want to see. A failing program is a result, not an error.
        invalid_state: start_sandbox first.

        Args:
            code: Source code.
            sandbox: Name or ID, if you have several.
            timeout_seconds: Seconds until it is killed (1-300, default 30).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.
            on_output: Receives what the program prints, byte for byte.
            on_stdout: Receives it as text of standard output, and how many bytes are missing before
                it.
            on_stderr: Likewise, for standard error.

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: start_sandbox first.
        """
        parameters: dict[str, object] = {
            "code": code,
            "sandbox": sandbox,
            "timeout_seconds": timeout_seconds,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
            on_output=on_output,
            on_stdout=on_stdout,
            on_stderr=on_stderr,
        )
        return cast(types.RunCodeResult, await call_tool(self._connection, facts.run_code, parameters, options))

    async def run_command(
        self,
        *,
        command: str,
        sandbox: str | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_seconds: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
        on_output: OnBytes | None = None,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
    ) -> types.RunCommandResult:
        """Runs bash -c as root, with empty standard input, and waits for its end; background children
        live on. Returns output (stdout and stderr as they came), both apart, and exit_code. A
        failing command is a result, not an error. invalid_state: start_sandbox first.

        Args:
            command: Shell command; pipes, && and several lines work.
            sandbox: Name or ID, if you have several.
            cwd: Directory to run in (default: /workspace).
            env: More environment variables, as strings (default: none).
            timeout_seconds: Seconds until it is killed (1-600, default 60).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.
            on_output: Receives what the program prints, byte for byte.
            on_stdout: Receives it as text of standard output, and how many bytes are missing before
                it.
            on_stderr: Likewise, for standard error.

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: start_sandbox first.
        """
        parameters: dict[str, object] = {
            "command": command,
            "sandbox": sandbox,
            "cwd": cwd,
            "env": env,
            "timeout_seconds": timeout_seconds,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
            on_output=on_output,
            on_stdout=on_stdout,
            on_stderr=on_stderr,
        )
        return cast(types.RunCommandResult, await call_tool(self._connection, facts.run_command, parameters, options))

    async def create_session(
        self,
        *,
        sandbox: str | None = None,
        session_id: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.CreateSessionResult:
        """Opens a bash that stays: directory, variables and functions persist between its commands,
        which may run in the background and take input. Returns session_id for run_session_command.
        For one-off commands use run_command.

        Args:
            sandbox: Name or ID, if you have several.
            session_id: Name of your choice (default: a generated one).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "session_id": session_id,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.CreateSessionResult, await call_tool(self._connection, facts.create_session, parameters, options))

    async def list_sessions(
        self,
        *,
        sandbox: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.ListSessionsResult:
        """Lists the active sessions of a sandbox, each with its newest commands first: command_id,
        command, status and, once ended, exit_code. Shows what still runs.

        Args:
            sandbox: Name or ID, if you have several.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.ListSessionsResult, await call_tool(self._connection, facts.list_sessions, parameters, options))

    async def run_session_command(
        self,
        *,
        session_id: str,
        command: str,
        sandbox: str | None = None,
        async_exec: bool | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
        on_output: OnBytes | None = None,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
    ) -> types.RunSessionCommandResult:
        """Runs a command in a session, after those before it. Returns output and, once ended,
        exit_code; otherwise status queued or running: read on with get_session_command_logs.
        async_exec: return at once with status running, for servers and what asks for input.
        invalid_state: the session is closed.

        Args:
            session_id: From create_session.
            command: Shell command line; several lines work. exit ends the session.
            sandbox: Name or ID, if you have several.
            async_exec: Do not wait for its end (default false).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.
            on_output: Receives what the program prints, byte for byte.
            on_stdout: Receives it as text of standard output, and how many bytes are missing before
                it.
            on_stderr: Likewise, for standard error.

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the session is closed.
        """
        parameters: dict[str, object] = {
            "session_id": session_id,
            "command": command,
            "sandbox": sandbox,
            "async_exec": async_exec,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
            on_output=on_output,
            on_stdout=on_stdout,
            on_stderr=on_stderr,
        )
        return cast(types.RunSessionCommandResult, await call_tool(self._connection, facts.run_session_command, parameters, options))

    async def get_session_command_logs(
        self,
        *,
        session_id: str,
        command_id: str,
        sandbox: str | None = None,
        offset: int | None = None,
        wait_seconds: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GetSessionCommandLogsResult:
        """Returns what a session command has printed so far: output (as it came), stdout, stderr,
        status and, once ended, exit_code. To follow a running command, give next_offset as offset:
        output then holds only what is new, stdout and stderr nothing. truncated: the middle of a
        long log is left out. Kept while the sandbox is stopped.

        Args:
            session_id: From create_session.
            command_id: From run_session_command.
            sandbox: Name or ID, if you have several.
            offset: Bytes of output to skip (from 0).
            wait_seconds: Seconds to wait for its end or, with offset, for more output (0-60,
                default 0).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "session_id": session_id,
            "command_id": command_id,
            "sandbox": sandbox,
            "offset": offset,
            "wait_seconds": wait_seconds,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GetSessionCommandLogsResult, await call_tool(self._connection, facts.get_session_command_logs, parameters, options))

    async def send_session_input(
        self,
        *,
        session_id: str,
        command_id: str,
        input: str,
        sandbox: str | None = None,
        wait_seconds: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.SendSessionInputResult:
        """Types a line into a running session command, as at a terminal that does not echo: answers,
        passwords. A newline is appended. \\u0004 is end of input, \\u0003 interrupts the command
        and ends the session. With wait_seconds, output is what the command prints next; else read
        get_session_command_logs. invalid_state: the command has ended or is queued.

        Args:
            session_id: From create_session.
            command_id: From run_session_command.
            input: The line, without its newline.
            sandbox: Name or ID, if you have several.
            wait_seconds: Seconds to wait for what it prints next (0-60, default 0).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the command has ended or is queued.
        """
        parameters: dict[str, object] = {
            "session_id": session_id,
            "command_id": command_id,
            "input": input,
            "sandbox": sandbox,
            "wait_seconds": wait_seconds,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.SendSessionInputResult, await call_tool(self._connection, facts.send_session_input, parameters, options))

    async def git_clone(
        self,
        *,
        url: str,
        sandbox: str | None = None,
        path: str | None = None,
        branch: str | None = None,
        commit_id: str | None = None,
        username: str | None = None,
        password: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.GitCloneResult:
        """Clones a Git repository into a new or empty folder. Give username and password (access
        token) for a private one over http or https: they stay outside the sandbox and serve later
        pulls and pushes. already_exists: choose another path. To begin a new one, run git init with
        run_command.

        Args:
            url: URL (http, https, ssh, git, file) without password, or path.
            sandbox: Name or ID, if you have several.
            path: Destination folder (default: name from the URL, in /workspace).
            branch: Branch or tag (default: the default branch).
            commit_id: Commit hash to check out, detached (default: head of the branch).
            username: User name at the remote.
            password: Password or access token.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            AlreadyExistsError: choose another path.
        """
        parameters: dict[str, object] = {
            "url": url,
            "sandbox": sandbox,
            "path": path,
            "branch": branch,
            "commit_id": commit_id,
            "username": username,
            "password": password,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
        )
        return cast(types.GitCloneResult, await call_tool(self._connection, facts.git_clone, parameters, options))

    async def git_status(
        self,
        *,
        sandbox: str | None = None,
        path: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GitStatusResult:
        """Shows what changed in a Git repository: branch (null when detached), staged, modified,
        untracked and conflicted paths from its root, commits ahead of and behind upstream (null
        without one). For a diff, run git diff with run_command.

        Args:
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "path": path,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GitStatusResult, await call_tool(self._connection, facts.git_status, parameters, options))

    async def git_add(
        self,
        *,
        files: list[str],
        sandbox: str | None = None,
        path: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GitAddResult:
        """Stages files or folders for the next commit, deletions included; ["."] stages everything.
        Paths are literal and start at the repository's root, as git_status names them. Returns
        added, the staged paths, and added_count.

        Args:
            files: Paths to stage.
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "files": files,
            "sandbox": sandbox,
            "path": path,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GitAddResult, await call_tool(self._connection, facts.git_add, parameters, options))

    async def git_commit(
        self,
        *,
        message: str,
        sandbox: str | None = None,
        path: str | None = None,
        author_name: str | None = None,
        author_email: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GitCommitResult:
        """Commits what is staged (git_add), also to conclude a merge. Give author_name and author_email
        unless git config in the sandbox has them. failed_precondition: nothing is staged, conflicts
        are left, or the author is not known.

        Args:
            message: The whole message, kept as it is.
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            author_name: Author (default: from git config in the sandbox).
            author_email: Address of the author (default: the same).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            FailedPreconditionError: nothing is staged, conflicts are left, or the author is not
                known.
        """
        parameters: dict[str, object] = {
            "message": message,
            "sandbox": sandbox,
            "path": path,
            "author_name": author_name,
            "author_email": author_email,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GitCommitResult, await call_tool(self._connection, facts.git_commit, parameters, options))

    async def git_branches(
        self,
        *,
        sandbox: str | None = None,
        path: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GitBranchesResult:
        """Lists the local branches with name and current, and current, the one checked out (null when
        detached; unborn: no commit yet). Branches of the remote become local with git_checkout.

        Args:
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "path": path,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GitBranchesResult, await call_tool(self._connection, facts.git_branches, parameters, options))

    async def git_checkout(
        self,
        *,
        ref: str,
        sandbox: str | None = None,
        path: str | None = None,
        create_new_branch: bool | None = None,
        start_point: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GitCheckoutResult:
        """Switches to a branch (also one that only the remote has), tag or commit, or with
        create_new_branch makes branch ref at start_point and switches to it. failed_precondition:
        commit or discard local changes first.

        Args:
            ref: Branch, tag or commit; the new branch with create_new_branch.
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            create_new_branch: Make the branch ref (default false).
            start_point: Where a new branch starts (default: HEAD).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            FailedPreconditionError: commit or discard local changes first.
        """
        parameters: dict[str, object] = {
            "ref": ref,
            "sandbox": sandbox,
            "path": path,
            "create_new_branch": create_new_branch,
            "start_point": start_point,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GitCheckoutResult, await call_tool(self._connection, facts.git_checkout, parameters, options))

    async def git_create_branch(
        self,
        *,
        branch: str,
        sandbox: str | None = None,
        path: str | None = None,
        start_point: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GitCreateBranchResult:
        """Makes a branch at start_point and switches to it, with local changes kept. Returns branch
        and switched: true. already_exists: switch to it with git_checkout.

        Args:
            branch: Name of the new branch.
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            start_point: Branch, tag or commit to start at (default: HEAD).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            AlreadyExistsError: switch to it with git_checkout.
        """
        parameters: dict[str, object] = {
            "branch": branch,
            "sandbox": sandbox,
            "path": path,
            "start_point": start_point,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GitCreateBranchResult, await call_tool(self._connection, facts.git_create_branch, parameters, options))

    async def git_delete_branch(
        self,
        *,
        branch: str,
        sandbox: str | None = None,
        path: str | None = None,
        force: bool | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GitDeleteBranchResult:
        """Deletes a local branch. failed_precondition: it is checked out (git_checkout another), or not
        merged (force: true loses its commits).

        Args:
            branch: Local branch.
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            force: Delete it even if it is not merged (default false).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            FailedPreconditionError: it is checked out (git_checkout another), or not merged (force:
                true loses its commits).
        """
        parameters: dict[str, object] = {
            "branch": branch,
            "sandbox": sandbox,
            "path": path,
            "force": force,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GitDeleteBranchResult, await call_tool(self._connection, facts.git_delete_branch, parameters, options))

    async def git_log(
        self,
        *,
        sandbox: str | None = None,
        path: str | None = None,
        max_count: int | None = None,
        branch: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GitLogResult:
        """Lists commits, newest first: hash, author, email, date (UTC) and message. Without commits
        the list is empty. not_found: no such branch; see git_branches.

        Args:
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            max_count: Most commits (from 1, default 20).
            branch: Branch, tag or commit to start from (default: current).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            NotFoundError: no such branch; see git_branches.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "path": path,
            "max_count": max_count,
            "branch": branch,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GitLogResult, await call_tool(self._connection, facts.git_log, parameters, options))

    async def git_pull(
        self,
        *,
        sandbox: str | None = None,
        path: str | None = None,
        branch: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.GitPullResult:
        """Fetches from the remote (URL, or path in the sandbox) and merges into the branch that is
        checked out, with the credentials given at clone or configured. updated: whether anything
        came. failed_precondition: conflicts (edit the files, git_add, git_commit), or local changes
        in the way.

        Args:
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            branch: Branch of the remote (default: the tracked one).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            FailedPreconditionError: conflicts (edit the files, git_add, git_commit), or local changes
                in the way.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "path": path,
            "branch": branch,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
        )
        return cast(types.GitPullResult, await call_tool(self._connection, facts.git_pull, parameters, options))

    async def git_push(
        self,
        *,
        sandbox: str | None = None,
        path: str | None = None,
        branch: str | None = None,
        force: bool | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.GitPushResult:
        """Pushes a branch to that of the same name at its remote (URL, or path in the sandbox), with
        the credentials given at clone or configured; it then tracks that one. failed_precondition:
        the remote has newer commits; call git_pull first.

        Args:
            sandbox: Name or ID, if you have several.
            path: Repository (default: /workspace, or the only one in it).
            branch: Local branch (default: the current one).
            force: Replace what the remote has (default false).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.

        Raises:
            NotFoundError: there is no such sandbox.
            AmbiguousSandboxError: `sandbox` is left out and there is none, or several.
            InvalidStateError: the sandbox is not started; call start_sandbox first.
            FailedPreconditionError: the remote has newer commits; call git_pull first.
        """
        parameters: dict[str, object] = {
            "sandbox": sandbox,
            "path": path,
            "branch": branch,
            "force": force,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
        )
        return cast(types.GitPushResult, await call_tool(self._connection, facts.git_push, parameters, options))


class AsyncDocumentDb:
    """The tools of DocumentDb."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def discover_databases(
        self,
        *,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.DiscoverDatabasesResult:
        """Lists the databases of the connected server with their size in bytes; the first of three
        steps before a query. Next: discover_collections. unavailable: the operator has to connect a
        database.

        Args:
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            UnavailableError: the operator has to connect a database.
        """
        parameters: dict[str, object] = {}
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.DiscoverDatabasesResult, await call_tool(self._connection, facts.discover_databases, parameters, options))

    async def discover_collections(
        self,
        *,
        database_name: str,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.DiscoverCollectionsResult:
        """Lists the collections and views of a database with estimated document counts (null: unknown,
        as for views) and indexes. Required before any tool that takes a collection_name. Next:
        get_collection_schema for each collection you will use.

        Args:
            database_name: Database.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
        """
        parameters: dict[str, object] = {
            "database_name": database_name,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.DiscoverCollectionsResult, await call_tool(self._connection, facts.discover_collections, parameters, options))

    async def get_collection_schema(
        self,
        *,
        database_name: str,
        collection_name: str,
        sample_size: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.GetCollectionSchemaResult:
        """Infers the structure of a collection from a sample of its documents: fields, BSON types, how
        often each is there, ranges, enums, patterns of strings (9 for digits), examples (empty
        where enum, min or fields say it), and the indexes to filter by. Required before querying,
        for every collection of the query ($lookup sources too). failed_precondition:
        discover_collections first.

        Args:
            database_name: Database.
            collection_name: Collection or view.
            sample_size: Documents to sample (1-100000, default 1000).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).

        Raises:
            FailedPreconditionError: discover_collections first.
        """
        parameters: dict[str, object] = {
            "database_name": database_name,
            "collection_name": collection_name,
            "sample_size": sample_size,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.GetCollectionSchemaResult, await call_tool(self._connection, facts.get_collection_schema, parameters, options))

    async def find_documents(
        self,
        *,
        database_name: str,
        collection_name: str,
        filter_dict: str | None = None,
        projection: str | None = None,
        sort: list[str] | None = None,
        skip: int | None = None,
        limit: int | None = None,
        max_bytes: int | None = None,
        save_to_sandbox: str | None = None,
        save_to_path: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.FindDocumentsResult:
        """Returns documents as relaxed Extended JSON strings. Load the schema first; filter by indexed
        fields with $gte, $in, $regex …; always give a projection of the fields you need and a sort
        (by _id if unsure). Strings compare case-sensitively. has_more: go on with next. A filter
        runs as written; only if nothing matches are strings also tried as ObjectId, date or number,
        which notes say. For large results save into a sandbox and analyse them with run_code.
        already_exists: a save never replaces a file.

        Args:
            database_name: Database.
            collection_name: Collection or view.
            filter_dict: Filter as JSON text (default: all documents).
            projection: JSON text, 1 includes and 0 excludes a field (default: all).
            sort: JSON texts such as {"field": "age", "direction": -1} (default: none).
            skip: Documents to skip (from 0, default 0).
            limit: Most documents (1-10000, default 1000).
            max_bytes: Most bytes of documents (from 1024, default 16777216).
            save_to_sandbox: Started sandbox to save all results in, as JSON lines and without
                limits; none are returned.
            save_to_path: New file in it, beneath /workspace.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.

        Raises:
            AlreadyExistsError: a save never replaces a file.
        """
        parameters: dict[str, object] = {
            "database_name": database_name,
            "collection_name": collection_name,
            "filter_dict": filter_dict,
            "projection": projection,
            "sort": sort,
            "skip": skip,
            "limit": limit,
            "max_bytes": max_bytes,
            "save_to_sandbox": save_to_sandbox,
            "save_to_path": save_to_path,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
        )
        return cast(types.FindDocumentsResult, await call_tool(self._connection, facts.find_documents, parameters, options))

    async def count_documents(
        self,
        *,
        database_name: str,
        collection_name: str,
        filter_dict: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> types.CountDocumentsResult:
        """Counts the documents that match a filter, exactly. Load the schema first. A count of 0 comes
        with notes that say which condition removed everything, where that is cheap to know.

        Args:
            database_name: Database.
            collection_name: Collection or view.
            filter_dict: Filter as JSON text (default: all documents).
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
        """
        parameters: dict[str, object] = {
            "database_name": database_name,
            "collection_name": collection_name,
            "filter_dict": filter_dict,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
        )
        return cast(types.CountDocumentsResult, await call_tool(self._connection, facts.count_documents, parameters, options))

    async def aggregate_documents(
        self,
        *,
        database_name: str,
        collection_name: str,
        pipeline: list[str],
        limit: int | None = None,
        max_bytes: int | None = None,
        save_to_sandbox: str | None = None,
        save_to_path: str | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> types.AggregateDocumentsResult:
        """Runs a read-only aggregation pipeline: $match, $group, $project, $sort, $lookup, $unwind,
        $facet … Begin with a $match on indexed fields. Load the schema of every collection first,
        also of $lookup, $graphLookup and $unionWith. Nothing can write or run JavaScript. For large
        results save into a sandbox.

        Args:
            database_name: Database.
            collection_name: Collection or view.
            pipeline: Stages as JSON texts such as {"$match": {"age": {"$gte": 18}}}.
            limit: Most documents (1-10000, default 1000).
            max_bytes: Most bytes of documents (from 1024, default 16777216).
            save_to_sandbox: Started sandbox to save all results in, as JSON lines and without
                limits; none are returned.
            save_to_path: New file in it, beneath /workspace.
            call_timeout_seconds: Longest time of the call, with its retries (default: the
                client's).
            max_retries: Most retries of this call, where they are safe (default: the client's).
            on_progress: Receives the steps of the call.
        """
        parameters: dict[str, object] = {
            "database_name": database_name,
            "collection_name": collection_name,
            "pipeline": pipeline,
            "limit": limit,
            "max_bytes": max_bytes,
            "save_to_sandbox": save_to_sandbox,
            "save_to_path": save_to_path,
        }
        options = CallOptions(
            call_timeout_seconds=call_timeout_seconds,
            max_retries=max_retries,
            on_progress=on_progress,
        )
        return cast(types.AggregateDocumentsResult, await call_tool(self._connection, facts.aggregate_documents, parameters, options))


class AsyncIterate:
    """Walks over lists that have pages, and fetches each when its first item is wanted."""

    def __init__(self, client: AsyncSandhaven) -> None:
        self._client = client

    def list_sandboxes(
        self,
        *,
        state: Literal["started", "stopped", "archived", "error"] | None = None,
        labels: dict[str, str] | None = None,
        page: int | None = None,
        page_size: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> AsyncIterator[types.CreateSandboxResult]:
        """Each of the sandboxes of `list_sandboxes`, from page on where it is given."""

        def fetch(first: int) -> Awaitable[types.ListSandboxesResult]:
            return self._client.list_sandboxes(
                state=state,
                labels=labels,
                page=first,
                page_size=page_size,
                call_timeout_seconds=call_timeout_seconds,
                max_retries=max_retries,
            )

        return by_page(page, fetch, lambda page: page["sandboxes"], lambda page: page["total_pages"])

    def list_snapshots(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> AsyncIterator[types.CreateSnapshotResult]:
        """Each of the snapshots of `list_snapshots`, from page on where it is given."""

        def fetch(first: int) -> Awaitable[types.ListSnapshotsResult]:
            return self._client.list_snapshots(
                page=first,
                page_size=page_size,
                call_timeout_seconds=call_timeout_seconds,
                max_retries=max_retries,
            )

        return by_page(page, fetch, lambda page: page["snapshots"], lambda page: page["total_pages"])

    def list_files(
        self,
        *,
        path: str | None = None,
        sandbox: str | None = None,
        pattern: str | None = None,
        max_items: int | None = None,
        offset: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> AsyncIterator[types.ListFilesFile]:
        """Each of the files of `list_files`, from offset on where it is given."""

        def fetch(first: int) -> Awaitable[types.ListFilesResult]:
            return self._client.list_files(
                path=path,
                sandbox=sandbox,
                pattern=pattern,
                max_items=max_items,
                offset=first,
                call_timeout_seconds=call_timeout_seconds,
                max_retries=max_retries,
            )

        return by_offset(offset, fetch, lambda page: page["files"], lambda page: page["has_more"])

    def find_files(
        self,
        *,
        pattern: str,
        path: str | None = None,
        sandbox: str | None = None,
        max_items: int | None = None,
        offset: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> AsyncIterator[str]:
        """Each of the paths of `find_files`, from offset on where it is given."""

        def fetch(first: int) -> Awaitable[types.FindFilesResult]:
            return self._client.find_files(
                pattern=pattern,
                path=path,
                sandbox=sandbox,
                max_items=max_items,
                offset=first,
                call_timeout_seconds=call_timeout_seconds,
                max_retries=max_retries,
            )

        return by_offset(offset, fetch, lambda page: page["paths"], lambda page: page["has_more"])

    def search_content(
        self,
        *,
        query: str,
        path: str | None = None,
        sandbox: str | None = None,
        file_pattern: str | None = None,
        context_lines: int | None = None,
        literal: bool | None = None,
        output: Literal["matches", "files", "counts"] | None = None,
        max_items: int | None = None,
        offset: int | None = None,
        call_timeout_seconds: float | None = None,
        max_retries: int | None = None,
    ) -> AsyncIterator[types.SearchContentFile]:
        """Each of the files of `search_content`, from offset on where it is given."""

        def fetch(first: int) -> Awaitable[types.SearchContentResult]:
            return self._client.search_content(
                query=query,
                path=path,
                sandbox=sandbox,
                file_pattern=file_pattern,
                context_lines=context_lines,
                literal=literal,
                output=output,
                max_items=max_items,
                offset=first,
                call_timeout_seconds=call_timeout_seconds,
                max_retries=max_retries,
            )

        return by_offset(offset, fetch, lambda page: page["files"], lambda page: page["has_more"])
