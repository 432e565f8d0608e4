"""Makes errors from the service's own problems, foreign answers, silence, and exceeded time limits."""

from __future__ import annotations

import math
import re
from typing import cast

from ._error import Problem, SandhavenError
from ._generated.errors import ERROR_TYPES, ErrorCode

_TEXTS = ("hint", "parameter", "resource", "request_id", "authorization_url")
_STATUS_OF_GATEWAYS = (502, 503, 504)


def failure(
    code: ErrorCode, detail: str, hint: str, *, status: int = 0, retryable: bool = False, parameter: str | None = None
) -> SandhavenError:
    problem: Problem = {"code": code, "status": status, "detail": detail, "hint": hint, "retryable": retryable}
    if parameter is not None:
        problem["parameter"] = parameter
    return ERROR_TYPES[code](problem)


def invalid_argument(parameter: str, detail: str, hint: str) -> SandhavenError:
    return failure("invalid_argument", detail, hint, parameter=parameter)


def from_problem(body: object) -> SandhavenError | None:
    """Returns None when the body is not a problem object, as from a proxy in between."""
    if not isinstance(body, dict):
        return None
    code, detail, status = body.get("code"), body.get("detail"), body.get("status")
    if not isinstance(code, str) or not isinstance(detail, str) or type(status) is not int:
        return None
    # A newer service may have codes that are not known here.
    problem: Problem = {
        "code": cast(ErrorCode, code),
        "status": status,
        "detail": detail,
        "retryable": body.get("retryable") is True,
    }
    texts = {name: body[name] for name in _TEXTS if isinstance(body.get(name), str)}
    problem.update(cast(Problem, texts))
    after = body.get("retry_after_seconds")
    if isinstance(after, (int, float)) and not isinstance(after, bool) and math.isfinite(after) and after >= 0:
        problem["retry_after_seconds"] = after
    return ERROR_TYPES.get(code, SandhavenError)(problem)


def unreachable(url: str) -> SandhavenError:
    """The service was unreachable, or closed the connection before its response."""
    hint = "Check that it runs (`sandhaven up`) and that the url is right."
    return failure("unavailable", f"The service at {url} gave no answer.", hint, retryable=True)


def redirected(url: str) -> SandhavenError:
    detail = f"The service at {url} redirects to another address, which does not get the key."
    return failure("unavailable", detail, "Give the url of the redirect, if it is right.")


def foreign_answer(status: int, retry_after: str | None = None) -> SandhavenError:
    """Builds the error for a response that is not the service's own."""
    is_gateway = status in _STATUS_OF_GATEWAYS
    error = failure(
        "unavailable" if is_gateway else "internal",
        f"Something other than the service answered, with status {status}.",
        "Check the url, and any proxy on the way to the service.",
        status=status,
        retryable=is_gateway,
    )
    if retry_after is not None and re.fullmatch("[0-9]{1,6}", retry_after):
        error.retry_after_seconds = int(retry_after)
    return error


def timed_out(seconds: float) -> SandhavenError:
    hint = "Give a larger call_timeout_seconds. A lifecycle operation goes on without its caller."
    return failure("timeout", f"The call was given up after {seconds:g} s.", hint)
