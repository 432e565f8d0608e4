"""LangChain's standard tests of sandboxes, by its backend for E2B."""

from collections.abc import Iterator

import pytest
from deepagents.backends.protocol import SandboxBackendProtocol
from e2b import Sandbox
from langchain_e2b import E2BSandbox
from langchain_tests.integration_tests import SandboxIntegrationTests


class TestSandbox(SandboxIntegrationTests):
    @pytest.fixture(scope="class")
    def sandbox(self) -> Iterator[SandboxBackendProtocol]:
        box = Sandbox.create(timeout=600)
        try:
            yield E2BSandbox(sandbox=box)
        finally:
            box.kill()
