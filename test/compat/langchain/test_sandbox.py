"""LangChain's standard tests of sandboxes, by its backend for Daytona."""

from collections.abc import Iterator

import pytest
from daytona import Daytona
from deepagents.backends.protocol import SandboxBackendProtocol
from langchain_daytona import DaytonaSandbox
from langchain_tests.integration_tests import SandboxIntegrationTests


class TestSandbox(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self) -> Iterator[SandboxBackendProtocol]:
        box = Daytona().create()
        try:
            yield DaytonaSandbox(sandbox=box)
        finally:
            box.delete()
