"""Typed client of Sandhaven: self-hosted sandboxes for language-model agents."""

from ._async.administration import AsyncAccess, AsyncAdministration, AsyncSessions, AsyncSnapshots
from ._async.contexts import AsyncCodeContext, AsyncContexts
from ._async.files import AsyncDownload, AsyncFiles
from ._async.preview import AsyncPreview
from ._async.processes import AsyncProcess, AsyncProcesses, AsyncSandboxProcesses
from ._calls import DisplayedResult, OnDisplay, OnProgress, Progress
from ._error import Problem, SandhavenError
from ._follow import (
    AuditLogRow,
    AuditMissed,
    AuditRows,
    Health,
    NetworkLogEvent,
    NetworkLogPiece,
    Refresh,
    SandboxChange,
    SandboxChanged,
    SandboxDeleted,
    SandboxUsage,
    SnapshotChanged,
    SnapshotDeleted,
    SnapshotProgress,
    Usage,
)
from ._generated import errors as _errors
from ._generated import types as _types
from ._generated.async_client import AsyncDocumentDb, AsyncIterate, AsyncSandhaven
from ._generated.async_handle import (
    AsyncForks,
    AsyncSandboxCode,
    AsyncSandboxFiles,
    AsyncSandboxGit,
    AsyncSandboxHandle,
    AsyncSandboxSessions,
)
from ._generated.client import DocumentDb, Iterate, Sandhaven
from ._generated.errors import *
from ._generated.handle import Forks, SandboxCode, SandboxFiles, SandboxGit, SandboxHandle, SandboxSessions
from ._generated.types import *
from ._generated.types import CreateSandboxResult as Sandbox
from ._generated.version import __version__
from ._health import DoctorFinding, HealthSample, ServiceHealth
from ._output import OnBytes, OnOutput, OutputPiece
from ._records import (
    AccessToken,
    BuildEvent,
    BuildFailed,
    BuildNote,
    BuildOutput,
    BuildStep,
    ChangedFile,
    ContextInfo,
    ContextLanguage,
    DeletedSession,
    DeletedSnapshot,
    FileChange,
    FileChanged,
    FileDetails,
    FileEntry,
    FileRenamed,
    ProcessEnd,
    ProcessInfo,
    PublicPorts,
    RevokedAccess,
    SandboxDeadline,
    SandboxSleep,
    SandboxToken,
    Upload,
    UsageHistory,
    WatchNews,
)
from ._settings import Default
from ._sync.administration import Access, Administration, Sessions, Snapshots
from ._sync.contexts import CodeContext, Contexts
from ._sync.files import Download, Files
from ._sync.preview import Preview
from ._sync.processes import Process, Processes, SandboxProcesses

__all__ = [
    "Access",
    "AccessToken",
    "Administration",
    "AsyncAccess",
    "AsyncAdministration",
    "AsyncCodeContext",
    "AsyncContexts",
    "AsyncDocumentDb",
    "AsyncDownload",
    "AsyncFiles",
    "AsyncForks",
    "AsyncIterate",
    "AsyncPreview",
    "AsyncProcess",
    "AsyncProcesses",
    "AsyncSandboxCode",
    "AsyncSandboxFiles",
    "AsyncSandboxGit",
    "AsyncSandboxHandle",
    "AsyncSandboxProcesses",
    "AsyncSandboxSessions",
    "AsyncSandhaven",
    "AsyncSessions",
    "AsyncSnapshots",
    "AuditLogRow",
    "AuditMissed",
    "AuditRows",
    "BuildEvent",
    "BuildFailed",
    "BuildNote",
    "BuildOutput",
    "BuildStep",
    "ChangedFile",
    "CodeContext",
    "ContextInfo",
    "ContextLanguage",
    "Contexts",
    "Default",
    "DeletedSession",
    "DeletedSnapshot",
    "DisplayedResult",
    "DoctorFinding",
    "DocumentDb",
    "Download",
    "FileChange",
    "FileChanged",
    "FileDetails",
    "FileEntry",
    "FileRenamed",
    "Files",
    "Forks",
    "Health",
    "HealthSample",
    "Iterate",
    "NetworkLogEvent",
    "NetworkLogPiece",
    "OnBytes",
    "OnDisplay",
    "OnOutput",
    "OnProgress",
    "OutputPiece",
    "Preview",
    "Problem",
    "Process",
    "ProcessEnd",
    "ProcessInfo",
    "Processes",
    "Progress",
    "PublicPorts",
    "Refresh",
    "RevokedAccess",
    "Sandbox",
    "SandboxChange",
    "SandboxChanged",
    "SandboxCode",
    "SandboxDeadline",
    "SandboxDeleted",
    "SandboxFiles",
    "SandboxGit",
    "SandboxHandle",
    "SandboxProcesses",
    "SandboxSessions",
    "SandboxSleep",
    "SandboxToken",
    "SandboxUsage",
    "Sandhaven",
    "SandhavenError",
    "ServiceHealth",
    "Sessions",
    "SnapshotChanged",
    "SnapshotDeleted",
    "SnapshotProgress",
    "Snapshots",
    "Upload",
    "Usage",
    "UsageHistory",
    "WatchNews",
    "__version__",
]
__all__ += _errors.__all__
__all__ += _types.__all__
