"""Stands in for the package openai-agents: what the page's program uses of it, with a model that calls one tool."""

import json
import types
import urllib.request


class Agent:
    def __init__(self, name: str, instructions: str, mcp_servers: list) -> None:
        (self.server,) = mcp_servers


class Runner:
    @staticmethod
    async def run(agent: Agent, task: str) -> types.SimpleNamespace:
        params = {"name": "Sandbox_WhoAmI", "arguments": {}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-06-18",
        }
        request = urllib.request.Request(agent.server["url"], body.encode(), headers | agent.server["headers"])
        with urllib.request.urlopen(request) as answer:
            text = answer.read().decode()
        data = text if text.startswith("{") else text.split("data: ", 1)[1]
        return types.SimpleNamespace(final_output=json.loads(data.split("\n", 1)[0])["result"])
