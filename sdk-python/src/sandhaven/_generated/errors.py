"""Codes of errors. Generated from the service's table by `make generate`; never edited by hand."""

from __future__ import annotations

from typing import Literal

from .._error import SandhavenError

__all__ = [
    "AlreadyExistsError",
    "AmbiguousSandboxError",
    "AuthorizationRequiredError",
    "ERROR_TYPES",
    "ErrorCode",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "InvalidStateError",
    "NotFoundError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "TimedOutError",
    "TooLargeError",
    "UnauthenticatedError",
    "UnavailableError",
]

ErrorCode = Literal[
    "invalid_argument",
    "ambiguous_sandbox",
    "unauthenticated",
    "authorization_required",
    "permission_denied",
    "not_found",
    "already_exists",
    "invalid_state",
    "failed_precondition",
    "too_large",
    "resource_exhausted",
    "timeout",
    "unavailable",
    "internal",
]


class InvalidArgumentError(SandhavenError):
    """Invalid argument: invalid_argument."""


class AmbiguousSandboxError(SandhavenError):
    """Ambiguous sandbox: ambiguous_sandbox."""


class UnauthenticatedError(SandhavenError):
    """Unauthenticated: unauthenticated."""


class AuthorizationRequiredError(SandhavenError):
    """Authorization required: authorization_required."""


class PermissionDeniedError(SandhavenError):
    """Permission denied: permission_denied."""


class NotFoundError(SandhavenError):
    """Not found: not_found."""


class AlreadyExistsError(SandhavenError):
    """Already exists: already_exists."""


class InvalidStateError(SandhavenError):
    """Invalid state: invalid_state."""


class FailedPreconditionError(SandhavenError):
    """Failed precondition: failed_precondition."""


class TooLargeError(SandhavenError):
    """Too large: too_large."""


class ResourceExhaustedError(SandhavenError):
    """Resource exhausted: resource_exhausted."""


class TimedOutError(SandhavenError):
    """Timeout: timeout."""


class UnavailableError(SandhavenError):
    """Unavailable: unavailable."""


class InternalError(SandhavenError):
    """Internal error: internal."""


ERROR_TYPES: dict[str, type[SandhavenError]] = {
    "invalid_argument": InvalidArgumentError,
    "ambiguous_sandbox": AmbiguousSandboxError,
    "unauthenticated": UnauthenticatedError,
    "authorization_required": AuthorizationRequiredError,
    "permission_denied": PermissionDeniedError,
    "not_found": NotFoundError,
    "already_exists": AlreadyExistsError,
    "invalid_state": InvalidStateError,
    "failed_precondition": FailedPreconditionError,
    "too_large": TooLargeError,
    "resource_exhausted": ResourceExhaustedError,
    "timeout": TimedOutError,
    "unavailable": UnavailableError,
    "internal": InternalError,
}
