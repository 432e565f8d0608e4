"""A sandbox agent of OpenAI Agents in a sandbox of E2B, with a model that says what is written here."""

import asyncio
import json

from agents import Model, ModelResponse, RunConfig, Runner, Usage
from agents.extensions.sandbox.e2b import E2BSandboxClient, E2BSandboxClientOptions
from agents.sandbox import Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox.entries import File
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

COMMANDS = ["cat in.txt && echo made >out.txt && pwd", "cat out.txt"]


class Scripted(Model):
    def __init__(self):
        self.heard = []

    async def get_response(self, system_instructions, input, *_args, **_kwargs):
        done = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
        self.heard = [item["output"] for item in done]
        if len(done) < len(COMMANDS):
            arguments = json.dumps({"cmd": COMMANDS[len(done)]})
            fields = {"call_id": f"call_{len(done)}", "name": "exec_command", "type": "function_call"}
            output = ResponseFunctionToolCall(arguments=arguments, **fields)
        else:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            fields = {"id": "1", "role": "assistant", "status": "completed", "type": "message"}
            output = ResponseOutputMessage(content=[text], **fields)
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_args, **_kwargs):
        raise NotImplementedError


async def main():
    model = Scripted()
    manifest = Manifest(entries={"in.txt": File(content=b"given\n")})
    agent = SandboxAgent(name="worker", model=model, default_manifest=manifest)
    sandbox = SandboxRunConfig(client=E2BSandboxClient(), options=E2BSandboxClientOptions(sandbox_type="e2b"))
    result = await Runner.run(agent, "Copy.", run_config=RunConfig(sandbox=sandbox, tracing_disabled=True))
    assert result.final_output == "done", result.final_output
    first, second = model.heard
    assert "given" in first and "made" in second, model.heard
    print("done")


asyncio.run(main())
