"""The error that the client raises, for refused calls and for a service that does not answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from ._generated.errors import ErrorCode


class _ProblemRequired(TypedDict):
    code: ErrorCode
    status: int
    detail: str
    retryable: bool


class Problem(_ProblemRequired, total=False):
    """Problem details of a failed call, as in RFC 9457."""

    hint: str
    parameter: str
    resource: str
    request_id: str
    authorization_url: str
    retry_after_seconds: float


class SandhavenError(Exception):
    """A call that failed; each code has a subclass of its own, such as NotFoundError."""

    code: ErrorCode
    """Code to decide by: "not_found", "invalid_state" …"""
    status: int
    """HTTP's status; 0 without a response from the service."""
    detail: str
    """Description of the error; the same as str(error)."""
    hint: str | None
    """Next step, in words that an agent can act on."""
    parameter: str | None
    """The parameter at fault."""
    resource: str | None
    """Kind of the missing resource."""
    retryable: bool
    """True when the same call may succeed later."""
    request_id: str | None
    """Finds the call in the service's log."""
    authorization_url: str | None
    """URL where the user authorizes, once, for "authorization_required"."""
    retry_after_seconds: float | None
    """Seconds until the same call is accepted."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem["detail"])
        self._problem = problem
        self.code = problem["code"]
        self.status = problem["status"]
        self.detail = problem["detail"]
        self.hint = problem.get("hint")
        self.parameter = problem.get("parameter")
        self.resource = problem.get("resource")
        self.retryable = problem["retryable"]
        self.request_id = problem.get("request_id")
        self.authorization_url = problem.get("authorization_url")
        self.retry_after_seconds = problem.get("retry_after_seconds")

    def __reduce__(self) -> tuple[type[SandhavenError], tuple[Problem]]:
        # The default would call the class with the detail, so an error could not come back from another process.
        return type(self), (self._problem,)
