/** Configurations of clients for this service, ready to paste. */

export interface Configuration {
  id: string;
  name: string;
  /** Place of the configuration. */
  where: string;
  /** Commands of a shell that come first, once; most clients need none. */
  install?: string;
  text: string;
}

/** Placeholder of the key until there is one. */
export const KEY_PLACE = '<API_KEY>';

/** VS Code fills this in. */
const KEY_ASKED_FOR = '$\u007Binput:sandhaven-key}';

/**
 * All packages come from the service itself: a name on a registry may belong to somebody else, who would get the key.
 * @param origin Of the service for programs, such as https://sandboxes.example.org.
 */
export function configurationsFor(origin: string, key: string): Configuration[] {
  const mcp = `${origin}/mcp`;
  const authorization = `Bearer ${key}`;
  const program = json({ mcpServers: { sandhaven: bridge(origin, key) } });
  return [
    {
      id: 'npx',
      name: 'Any MCP client',
      where:
        'In the configuration of a client that starts programs; it needs Node 20 or later on that computer.',
      text: program,
    },
    {
      id: 'claude-code',
      name: 'Claude Code',
      where: 'Run once in a terminal.',
      text: `claude mcp add --transport http sandhaven ${mcp} \\\n  --header "Authorization: ${authorization}"`,
    },
    {
      id: 'claude-desktop',
      name: 'Claude Desktop',
      where:
        'In claude_desktop_config.json (Settings, Developer, Edit Config); it needs Node 20 or later on that computer.',
      text: program,
    },
    {
      id: 'cursor',
      name: 'Cursor',
      where: 'In ~/.cursor/mcp.json, or .cursor/mcp.json of a project.',
      text: json({ mcpServers: { sandhaven: { url: mcp, headers: { Authorization: authorization } } } }),
    },
    {
      id: 'vscode',
      name: 'VS Code',
      where: 'In .vscode/mcp.json; the editor asks for the key once and keeps it.',
      text: json({
        inputs: [
          { type: 'promptString', id: 'sandhaven-key', description: 'API key of Sandhaven', password: true },
        ],
        servers: {
          sandhaven: { type: 'http', url: mcp, headers: { Authorization: `Bearer ${KEY_ASKED_FOR}` } },
        },
      }),
    },
    {
      id: 'openai-agents',
      name: 'OpenAI Agents',
      where: 'Python, with openai-agents.',
      text: openAiAgents(mcp),
    },
    { id: 'curl', name: 'curl', where: 'In a shell with SANDBOX_API_KEY set.', text: curl(origin) },
    {
      id: 'python',
      name: 'Python',
      where: 'Python 3.10 or later; the key is in SANDBOX_API_KEY.',
      install: pip(origin),
      text: python(origin),
    },
    {
      id: 'typescript',
      name: 'TypeScript',
      where: 'Node 20 or later, in a module such as main.mjs; the key is in SANDBOX_API_KEY.',
      install: `npm install ${origin}/packages/sdk.tgz`,
      text: typescript(origin),
    },
    {
      id: 'cli',
      name: 'Command line',
      where: 'In a shell, with Node 24 or later; `sandhaven login` keeps a key for you instead.',
      install: `npm install --global ${origin}/packages/cli.tgz`,
      text: `${environment(origin, key)}\nsandhaven run 'print(2 ** 100)'`,
    },
    {
      id: 'environment',
      name: 'Environment',
      where: 'Read by the SDKs, the command line, the bridge for MCP clients and the examples.',
      text: environment(origin, key),
    },
  ];
}

/** The key is in the environment, since every user of a computer can read its command lines. */
function bridge(origin: string, key: string) {
  return {
    command: 'npx',
    args: ['-y', `${origin}/packages/mcp.tgz`],
    env: { SANDBOX_API_URL: origin, SANDBOX_API_KEY: key },
  };
}

function environment(origin: string, key: string): string {
  return `export SANDBOX_API_URL=${origin}\nexport SANDBOX_API_KEY=${key}`;
}

function openAiAgents(mcp: string): string {
  return `import asyncio, os
from agents import Agent, Runner
from agents.mcp import MCPServerStreamableHttp

async def main():
    headers = {"Authorization": "Bearer " + os.environ["SANDBOX_API_KEY"]}
    async with MCPServerStreamableHttp(params={"url": "${mcp}", "headers": headers}) as sandhaven:
        agent = Agent(name="Engineer", instructions="Solve tasks by running code.", mcp_servers=[sandhaven])
        print((await Runner.run(agent, "What is 2 ** 100?")).final_output)

asyncio.run(main())`;
}

function curl(origin: string): string {
  return `curl -H "Authorization: Bearer $SANDBOX_API_KEY" -H 'content-type: application/json' \\
  -d '{"name": "demo", "ephemeral": true}' ${origin}/v1/tools/Sandbox.CreateSandbox`;
}

/**
 * The list has the package's dependencies too. pip takes links over plain HTTP from this computer alone, unless it is
 * named.
 */
function pip(origin: string): string {
  const { protocol, hostname } = new URL(origin);
  const isOpen = protocol === 'http:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
  const trust = isOpen ? ` --trusted-host ${hostname}` : '';
  return [
    'python3 -m venv .venv && . .venv/bin/activate',
    `pip install --no-index --find-links ${origin}/packages/${trust} sandhaven`,
  ].join('\n');
}

function python(origin: string): string {
  return `from sandhaven import Sandhaven

with Sandhaven(url="${origin}") as client:
    sandbox = client.create_sandbox(ephemeral=True)
    print(client.run_command(sandbox=sandbox["id"], command="uname -a")["output"])
    client.stop_sandbox(sandbox=sandbox["id"])`;
}

function typescript(origin: string): string {
  return `import { Sandhaven } from '@sandhaven/sdk';

const client = new Sandhaven({ url: '${origin}' });
const sandbox = await client.createSandbox({ ephemeral: true });
console.log((await client.runCommand({ sandbox: sandbox.id, command: 'uname -a' })).output);
await client.stopSandbox({ sandbox: sandbox.id });`;
}

function json(value: object): string {
  return JSON.stringify(value, null, 2);
}
