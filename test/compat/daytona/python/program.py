"""One generation of Daytona's client for Python, unmodified, by every group of its calls:
python program.py, with DAYTONA_API_URL and DAYTONA_API_KEY."""

from importlib.metadata import version
from types import SimpleNamespace

import daytona
import steps

# Each plans its steps when it is loaded, in this order.
import control
import files
import process
import sessions
import terminals
import git
import end

client = SimpleNamespace(
    sdk=daytona,
    version=tuple(int(part) for part in version("daytona").split(".")[:2]),
    daytona=daytona.Daytona(),
    sandbox=None,
)
steps.run_steps(client)
