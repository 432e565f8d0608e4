"""Results of tools. Generated from the service's catalogue by `make generate`; never edited by hand."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

__all__ = [
    "CreateSandboxResources",
    "CreateSandboxNetwork",
    "CreateSandboxSecret",
    "CreateSandboxResult",
    "GetSandboxSecret",
    "GetSandboxUsage",
    "GetSandboxResult",
    "ListSandboxesResult",
    "StartSandboxResult",
    "StopSandboxSecret",
    "StopSandboxResult",
    "ArchiveSandboxResult",
    "DeleteSandboxResult",
    "ConfigureSandboxAutoResult",
    "ResizeSandboxResult",
    "SetSandboxLabelsResult",
    "CreateSnapshotResult",
    "GetSnapshotResult",
    "ListSnapshotsResult",
    "ListRegionsRegionLocation",
    "ListRegionsRegion",
    "ListRegionsResult",
    "WhoAmITeam",
    "WhoAmIResult",
    "CreateSshAccessResult",
    "ListPortsPort",
    "ListPortsResult",
    "GetPortPreviewUrlResult",
    "ListFilesFile",
    "ListFilesResult",
    "FindFilesResult",
    "GetFileInfoResult",
    "ReadFileResult",
    "WriteFileResult",
    "CreateFolderResult",
    "MoveFileResult",
    "DeleteFileResult",
    "SearchContentFileMatch",
    "SearchContentFile",
    "SearchContentResult",
    "ReplaceInFilesResultItem",
    "ReplaceInFilesResult",
    "RunCodeChart",
    "RunCodeResult",
    "RunCommandResult",
    "CreateSessionResult",
    "ListSessionsSessionRecentCommand",
    "ListSessionsSession",
    "ListSessionsResult",
    "RunSessionCommandResult",
    "GetSessionCommandLogsResult",
    "SendSessionInputResult",
    "GitCloneResult",
    "GitStatusResult",
    "GitAddResult",
    "GitCommitResult",
    "GitBranchesBranch",
    "GitBranchesResult",
    "GitCheckoutResult",
    "GitCreateBranchResult",
    "GitDeleteBranchResult",
    "GitLogCommit",
    "GitLogResult",
    "GitPullResult",
    "GitPushResult",
    "DiscoverDatabasesResultItem",
    "DiscoverDatabasesResult",
    "DiscoverCollectionsResultItemIndex",
    "DiscoverCollectionsResultItem",
    "DiscoverCollectionsResult",
    "GetCollectionSchemaField",
    "GetCollectionSchemaIndex",
    "GetCollectionSchemaResult",
    "FindDocumentsNext",
    "FindDocumentsSaved",
    "FindDocumentsResult",
    "CountDocumentsResult",
    "AggregateDocumentsResult",
    "CreateSandboxNetworkParameter",
    "CreateSnapshotResources",
]


class CreateSandboxResources(TypedDict):
    cpu: int
    memory: int
    disk: int
    gpu: int


class CreateSandboxNetwork(TypedDict):
    mode: Literal["open", "none", "rules"]
    profiles: list[str]
    allow: list[str]


class CreateSandboxSecret(TypedDict):
    name: str
    variable: str


class _CreateSandboxResultRequired(TypedDict):
    id: str
    name: str
    state: Literal["started", "stopped", "archived", "error"]
    status: Literal["started", "stopped", "archived", "error"]
    language: Literal["python", "typescript", "javascript"]
    snapshot: str | None
    image: str | None
    resources: CreateSandboxResources
    labels: dict[str, str]
    auto_stop_minutes: int
    auto_archive_minutes: int
    auto_delete_minutes: int
    ephemeral: bool
    region_id: str
    created_at: str
    updated_at: str
    last_activity_at: str
    started_at: str | None
    stopped_at: str | None
    archived_at: str | None


class CreateSandboxResult(_CreateSandboxResultRequired, total=False):
    operation: str
    state_reason: str
    network: CreateSandboxNetwork
    """CreateSandbox and GetSandbox only."""
    secrets: list[CreateSandboxSecret]
    """CreateSandbox and GetSandbox only."""


class GetSandboxSecret(TypedDict):
    name: str
    variable: str


class GetSandboxUsage(TypedDict):
    memory_bytes: int | None
    disk_bytes: int | None


class _GetSandboxResultRequired(TypedDict):
    id: str
    name: str
    state: Literal["started", "stopped", "archived", "error"]
    status: Literal["started", "stopped", "archived", "error"]
    language: Literal["python", "typescript", "javascript"]
    snapshot: str | None
    image: str | None
    resources: CreateSandboxResources
    labels: dict[str, str]
    auto_stop_minutes: int
    auto_archive_minutes: int
    auto_delete_minutes: int
    ephemeral: bool
    region_id: str
    created_at: str
    updated_at: str
    last_activity_at: str
    started_at: str | None
    stopped_at: str | None
    archived_at: str | None
    usage: GetSandboxUsage
    env_vars: dict[str, str]


class GetSandboxResult(_GetSandboxResultRequired, total=False):
    operation: str
    state_reason: str
    network: CreateSandboxNetwork
    """CreateSandbox and GetSandbox only."""
    secrets: list[GetSandboxSecret]
    """CreateSandbox and GetSandbox only."""


class ListSandboxesResult(TypedDict):
    sandboxes: list[CreateSandboxResult]
    total_count: int
    page: int
    page_size: int
    total_pages: int


StartSandboxResult = CreateSandboxResult


class StopSandboxSecret(TypedDict):
    name: str
    variable: str


class _StopSandboxResultRequired(TypedDict):
    id: str
    name: str
    state: Literal["started", "stopped", "archived", "error"]
    status: Literal["started", "stopped", "archived", "error"]
    language: Literal["python", "typescript", "javascript"]
    snapshot: str | None
    image: str | None
    resources: CreateSandboxResources
    labels: dict[str, str]
    auto_stop_minutes: int
    auto_archive_minutes: int
    auto_delete_minutes: int
    ephemeral: bool
    region_id: str
    created_at: str
    updated_at: str
    last_activity_at: str
    started_at: str | None
    stopped_at: str | None
    archived_at: str | None


class StopSandboxResult(_StopSandboxResultRequired, total=False):
    operation: str
    state_reason: str
    network: CreateSandboxNetwork
    """CreateSandbox and GetSandbox only."""
    secrets: list[StopSandboxSecret]
    """CreateSandbox and GetSandbox only."""
    deleted: bool


ArchiveSandboxResult = CreateSandboxResult


class DeleteSandboxResult(TypedDict):
    id: str
    name: str
    deleted: bool


ConfigureSandboxAutoResult = StopSandboxResult


ResizeSandboxResult = CreateSandboxResult


SetSandboxLabelsResult = CreateSandboxResult


class _CreateSnapshotResultRequired(TypedDict):
    id: str
    name: str
    state: Literal["pending", "pulling", "active", "error"]
    image: str
    entrypoint: list[str] | None
    resources: CreateSandboxResources
    region_id: str
    size_bytes: int | None
    created_at: str
    updated_at: str


class CreateSnapshotResult(_CreateSnapshotResultRequired, total=False):
    state_reason: str
    network: CreateSandboxNetwork
    """Of sandboxes created from it that ask for none; absent for the usual one."""


GetSnapshotResult = CreateSnapshotResult


class ListSnapshotsResult(TypedDict):
    snapshots: list[CreateSnapshotResult]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class ListRegionsRegionLocation(TypedDict):
    country: str
    city: str


class ListRegionsRegion(TypedDict):
    id: str
    name: str
    location: ListRegionsRegionLocation


class ListRegionsResult(TypedDict):
    regions: list[ListRegionsRegion]


class _WhoAmITeamRequired(TypedDict):
    id: str
    name: str
    role: str


class WhoAmITeam(_WhoAmITeamRequired, total=False):
    as_admin: bool


class _WhoAmIResultRequired(TypedDict):
    user_id: str
    name: str
    email: str


class WhoAmIResult(_WhoAmIResultRequired, total=False):
    team: WhoAmITeam
    """Team that the call acts for; of an admin who reads inside (as_admin), any owner."""


class CreateSshAccessResult(TypedDict):
    host: str
    port: int
    username: str
    access_token: str
    host_key: str
    expires_at: str | None
    command: str


class ListPortsPort(TypedDict):
    port: int
    state: Literal["listening"]
    name: str
    pid: int | None
    command: str | None
    """At most 200 characters."""


class ListPortsResult(TypedDict):
    ports: list[ListPortsPort]


class GetPortPreviewUrlResult(TypedDict):
    url: str
    port: int
    signed: bool
    token: str | None
    header: str | None
    expires_at: str | None


class ListFilesFile(TypedDict):
    name: str
    type: Literal["file", "dir"]
    size: int
    link: bool


class ListFilesResult(TypedDict):
    path: str
    files: list[ListFilesFile]
    total_count: int
    has_more: bool
    offset: int


class FindFilesResult(TypedDict):
    paths: list[str]
    total_count: int
    has_more: bool
    offset: int


class GetFileInfoResult(TypedDict):
    path: str
    type: Literal["file", "dir", "symlink", "other"]
    size: int
    permissions: str
    mode: str
    owner: str
    group: str
    modified_time: str


class ReadFileResult(TypedDict):
    path: str
    content: str
    encoding: Literal["utf-8", "base64"]
    size: int
    total_lines: int
    start_line: int
    end_line: int


class WriteFileResult(TypedDict):
    path: str
    bytes_written: int
    created: bool


class CreateFolderResult(TypedDict):
    path: str
    created: bool
    mode: str


class MoveFileResult(TypedDict):
    source: str
    destination: str


class DeleteFileResult(TypedDict):
    path: str
    deleted: bool


class _SearchContentFileMatchRequired(TypedDict):
    line: int
    text: str


class SearchContentFileMatch(_SearchContentFileMatchRequired, total=False):
    before: list[str]
    """Lines around it; only with context_lines above 0."""
    after: list[str]
    """Lines around it; only with context_lines above 0."""


class _SearchContentFileRequired(TypedDict):
    path: str


class SearchContentFile(_SearchContentFileRequired, total=False):
    matches: list[SearchContentFileMatch]
    """Of output matches."""
    match_count: int
    """Matching lines: up to 50 of output matches, all of counts, left out of files."""
    capped: bool
    """There are more matches. Of output matches."""


class _SearchContentResultRequired(TypedDict):
    files: list[SearchContentFile]
    total_count: int
    """Matching files, those on other pages included."""
    has_more: bool
    offset: int
    literal: bool


class SearchContentResult(_SearchContentResultRequired, total=False):
    note: str
    """What the query would find if it were plain text."""


class _ReplaceInFilesResultItemRequired(TypedDict):
    path: str
    status: Literal["success", "error"]
    replacements: int


class ReplaceInFilesResultItem(_ReplaceInFilesResultItemRequired, total=False):
    error: str


class _ReplaceInFilesResultRequired(TypedDict):
    results: list[ReplaceInFilesResultItem]
    files_modified: int
    """0 of a dry run."""
    files_unchanged: int
    """Files of globs without a match, which are not listed."""
    total_replacements: int
    """Made, or of a dry run to be made."""
    literal: bool


class ReplaceInFilesResult(_ReplaceInFilesResultRequired, total=False):
    dry_run: bool
    note: str
    """What the pattern would find if it were plain text."""


class RunCodeChart(TypedDict):
    type: Literal["line", "scatter", "bar", "pie", "box", "composite", "unknown"]
    title: str | None
    x_label: str | None
    y_label: str | None
    x_scale: str | None
    y_scale: str | None
    elements: list[Any]
    png: str


class RunCodeResult(TypedDict):
    output: str
    stdout: str
    stderr: str
    exit_code: int
    timed_out: bool
    truncated: bool
    duration_ms: float
    charts: list[RunCodeChart]


class RunCommandResult(TypedDict):
    output: str
    stdout: str
    stderr: str
    exit_code: int
    timed_out: bool
    truncated: bool
    duration_ms: float


class CreateSessionResult(TypedDict):
    session_id: str
    status: Literal["active"]
    created_at: str


class _ListSessionsSessionRecentCommandRequired(TypedDict):
    command_id: str
    command: str
    status: Literal["queued", "running", "completed"]


class ListSessionsSessionRecentCommand(_ListSessionsSessionRecentCommandRequired, total=False):
    exit_code: int


class ListSessionsSession(TypedDict):
    session_id: str
    status: Literal["active"]
    created_at: str
    recent_commands: list[ListSessionsSessionRecentCommand]


class ListSessionsResult(TypedDict):
    sessions: list[ListSessionsSession]


class _RunSessionCommandResultRequired(TypedDict):
    session_id: str
    command_id: str
    status: Literal["queued", "running", "completed"]
    output: str


class RunSessionCommandResult(_RunSessionCommandResultRequired, total=False):
    exit_code: int


class _GetSessionCommandLogsResultRequired(TypedDict):
    session_id: str
    command_id: str
    status: Literal["queued", "running", "completed"]
    output: str
    stdout: str
    stderr: str
    truncated: bool
    next_offset: int | None


class GetSessionCommandLogsResult(_GetSessionCommandLogsResultRequired, total=False):
    exit_code: int


class _SendSessionInputResultRequired(TypedDict):
    session_id: str
    command_id: str
    sent: Literal[True]


class SendSessionInputResult(_SendSessionInputResultRequired, total=False):
    status: Literal["queued", "running", "completed"]
    exit_code: int
    output: str
    next_offset: int


class GitCloneResult(TypedDict):
    path: str
    branch: str | None
    sha: str | None


class _GitStatusResultRequired(TypedDict):
    branch: str | None
    staged: list[str]
    modified: list[str]
    untracked: list[str]
    conflicted: list[str]
    ahead: int
    behind: int
    upstream: str | None
    unborn: bool
    truncated: bool


class GitStatusResult(_GitStatusResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class _GitAddResultRequired(TypedDict):
    added: list[str]
    added_count: int
    truncated: bool


class GitAddResult(_GitAddResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class _GitCommitResultRequired(TypedDict):
    sha: str
    branch: str | None


class GitCommitResult(_GitCommitResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class GitBranchesBranch(TypedDict):
    name: str
    current: bool


class _GitBranchesResultRequired(TypedDict):
    branches: list[GitBranchesBranch]
    current: str | None
    unborn: bool
    truncated: bool


class GitBranchesResult(_GitBranchesResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class _GitCheckoutResultRequired(TypedDict):
    ref: str
    branch: str | None
    created: bool


class GitCheckoutResult(_GitCheckoutResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class _GitCreateBranchResultRequired(TypedDict):
    branch: str
    switched: bool


class GitCreateBranchResult(_GitCreateBranchResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class _GitDeleteBranchResultRequired(TypedDict):
    branch: str
    deleted: bool


class GitDeleteBranchResult(_GitDeleteBranchResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class GitLogCommit(TypedDict):
    hash: str
    author: str
    email: str
    date: str
    message: str


class _GitLogResultRequired(TypedDict):
    commits: list[GitLogCommit]
    truncated: bool


class GitLogResult(_GitLogResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class _GitPullResultRequired(TypedDict):
    branch: str
    updated: bool
    sha: str
    remote: str
    url: str


class GitPullResult(_GitPullResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class _GitPushResultRequired(TypedDict):
    branch: str
    remote: str
    url: str
    pushed: bool


class GitPushResult(_GitPushResultRequired, total=False):
    repository: str
    """The repository in /workspace that was found, when path was left out."""


class DiscoverDatabasesResultItem(TypedDict):
    name: str
    size_on_disk: int
    empty: bool


class DiscoverDatabasesResult(TypedDict):
    result: list[DiscoverDatabasesResultItem]


class DiscoverCollectionsResultItemIndex(TypedDict):
    name: str
    key: dict[str, float | str]
    unique: bool


class DiscoverCollectionsResultItem(TypedDict):
    name: str
    type: Literal["collection", "view", "timeseries"]
    document_count: int | None
    indexes: list[DiscoverCollectionsResultItemIndex]


class DiscoverCollectionsResult(TypedDict):
    result: list[DiscoverCollectionsResultItem]


class GetCollectionSchemaField(TypedDict):
    path: str
    probability: float


class GetCollectionSchemaIndex(TypedDict):
    name: str
    unique: bool


class _GetCollectionSchemaResultRequired(TypedDict):
    database_name: str
    collection_name: str
    sampled: int
    sample_method: Literal["all", "random", "first"]
    document_count: int | None
    fields: list[GetCollectionSchemaField]
    indexes: list[GetCollectionSchemaIndex]


class GetCollectionSchemaResult(_GetCollectionSchemaResultRequired, total=False):
    notes: list[str]


class FindDocumentsNext(TypedDict, total=False):
    filter_dict: str
    skip: int


class FindDocumentsSaved(TypedDict):
    sandbox: str
    path: str
    count: int
    size_bytes: int
    fields: list[str]


class _FindDocumentsResultRequired(TypedDict):
    result: list[str]
    returned: int
    has_more: bool


class FindDocumentsResult(_FindDocumentsResultRequired, total=False):
    next: FindDocumentsNext
    saved: FindDocumentsSaved
    notes: list[str]


class _CountDocumentsResultRequired(TypedDict):
    result: int


class CountDocumentsResult(_CountDocumentsResultRequired, total=False):
    notes: list[str]


AggregateDocumentsResult = FindDocumentsResult


class CreateSandboxNetworkParameter(TypedDict, total=False):
    allow: list[str]
    profiles: list[str]


class CreateSnapshotResources(TypedDict, total=False):
    cpu: int
    memory: int
    disk: int
    gpu: int
