"""Results of calls that are not tools."""

from __future__ import annotations

from typing import Literal, TypedDict, Union


class Upload(TypedDict):
    path: str
    bytes_written: int
    created: bool


class _FileEntryRequired(TypedDict):
    path: str
    """Below the path that was asked for; empty for that itself."""
    type: Literal["file", "dir", "symlink", "other"]
    size: int
    mode: str
    """Four octal digits."""
    owner: str
    group: str
    uid: int
    gid: int
    modified_time: str
    metadata: dict[str, str]


class FileEntry(_FileEntryRequired, total=False):
    target: str
    """Of a link."""


class FileDetails(TypedDict):
    entries: list[FileEntry]
    """Sorted by path."""
    total_count: int
    next_offset: int | None
    """Where the next page begins, which is early where there is much metadata; None at the end."""


class WatchNews(TypedDict):
    """Of the watch itself.

    ready: the folder is watched from here on; the first of all. overflow: changes may have been missed, so list what
    you follow.
    """

    type: Literal["ready", "overflow"]


class FileChanged(TypedDict):
    type: Literal["created", "written", "removed", "attributes"]
    path: str
    folder: bool
    """True for a folder."""


# By this form, since one of its names is a word of the language.
FileRenamed = TypedDict("FileRenamed", {"type": Literal["renamed"], "path": str, "from": str, "folder": bool})

FileChange = Union[WatchNews, FileChanged, FileRenamed]


class ChangedFile(TypedDict):
    path: str
    changed: Literal[True]


class SandboxDeadline(TypedDict):
    """When the service stops or deletes a sandbox, or puts it to sleep, as it is now."""

    sandbox: str
    """Sandbox ID."""
    deadline_at: str | None
    """None without a deadline."""
    deadline_action: Literal["stop", "delete", "sleep"] | None


class SandboxSleep(TypedDict):
    """Sleep of a sandbox, as it is now."""

    sandbox: str
    """Sandbox ID."""
    asleep_since: str | None
    """None while it is awake."""
    sleep_after_seconds: int | None
    """None: as the operator has it; 0: never."""
    wake: bool
    """True: a use starts it when it is stopped."""


class UsageSample(TypedDict):
    at: str
    cores: float | None
    """Processors in use on average since the sample before; None: not known, like the others."""
    memory_bytes: int | None
    disk_bytes: int | None


class OutOfMemory(TypedDict):
    at: str
    killed: int
    """Processes."""
    process: str | None
    """Name of the last of them, where the kernel gives it."""


class UsageHistory(TypedDict):
    """Use of a sandbox in its last hour, oldest sample first."""

    sandbox: str
    """Sandbox ID."""
    step_seconds: int
    samples: list[UsageSample]
    out_of_memory: list[OutOfMemory]


class SandboxToken(TypedDict):
    """A token of one sandbox, to be used in place of an API key."""

    sandbox: str
    """Sandbox ID."""
    token: str
    """A secret, which no other call shows."""
    token_id: str
    """Stands in the audit log in place of the id of a key."""
    expires_at: str


class PublicPorts(TypedDict):
    """Ports of a sandbox that everybody may visit, at the addresses of standard previews."""

    sandbox: str
    """Sandbox ID."""
    all: bool
    """True: every port."""
    ports: list[int]
    """Those that are open one by one."""
    allowed: bool
    """True: the operator lets owners open ports."""


class DeletedSession(TypedDict):
    session_id: str
    deleted: Literal[True]


class ProcessInfo(TypedDict):
    process: str
    """The pid, as the calls of a process take it."""
    pid: int
    tag: str | None
    command: str
    status: Literal["running", "ended"]
    started_at: str
    ended_at: str | None
    exit_code: int | None
    """None while it runs."""
    signal: str | None
    timed_out: bool
    viewers: int
    output_bytes: int
    """Bytes of output so far, of both streams."""
    cols: int | None
    """Size of its terminal; None without one."""
    rows: int | None


class ProcessEnd(TypedDict):
    exit_code: int
    """128 plus its number after a signal."""
    signal: str | None
    """Such as SIGKILL; None where none ended it."""
    timed_out: bool


class AccessToken(TypedDict):
    """What a token gives access to."""

    sandbox: str
    kind: Literal["ssh", "preview"]
    port: int | None
    created_at: str
    expires_at: str | None


class RevokedAccess(TypedDict):
    sandbox: str
    """Sandbox ID."""
    ssh: int
    """Number of SSH tokens that had not expired."""
    previews: int
    """Number of signed URLs that had not expired."""
    revoked: Literal[True]


class DeletedSnapshot(TypedDict):
    id: str
    name: str
    deleted: Literal[True]


ContextLanguage = Literal["python", "javascript", "typescript", "bash"]


class ContextInfo(TypedDict):
    context: str
    """Its id."""
    language: ContextLanguage
    user: str | None
    """None for root."""
    cwd: str
    memory_mb: int | None
    created_at: str
    runs: int
    """How often code ran in it."""
    busy: bool
    """Code runs in it."""
    ended: str | None
    """Why it has ended by itself; None while it lives."""


class _BuildStepRequired(TypedDict):
    event: Literal["step"]
    step: int
    of: int
    stage: str
    line: int
    text: str


class BuildStep(_BuildStepRequired, total=False):
    cached: bool
    """Of a step that changes files: it was done before."""


class BuildOutput(TypedDict):
    """Of the command that runs."""

    event: Literal["output"]
    stream: Literal["stdout", "stderr"]
    text: str


class BuildNote(TypedDict):
    event: Literal["note"]
    line: int
    """0: of the whole build."""
    text: str


class BuildFailed(TypedDict):
    """A command ended so; the error of the build follows."""

    event: Literal["failed"]
    line: int
    exit_code: int


BuildEvent = Union[BuildStep, BuildOutput, BuildNote, BuildFailed]
