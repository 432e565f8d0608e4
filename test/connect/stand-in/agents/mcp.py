"""The part of it that connects to a server over HTTP."""


class MCPServerStreamableHttp:
    def __init__(self, params: dict) -> None:
        self.params = params

    async def __aenter__(self) -> dict:
        return self.params

    async def __aexit__(self, *error: object) -> None:
        pass
