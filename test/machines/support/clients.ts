/** Clients of a service on a machine, on this host, as their users get them: from a registry of npm packages, and as a wheel. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { buildPython } from '../../../sdk-python/build/dist.ts';
import { newcomer, publishPackages, startRegistry } from '../../npm-packages/registry.ts';
import { root, run, succeeds } from '../../support/sdk-package.ts';

interface Reached {
  url: string;
  apiKey: string;
}

/** Runs a command in a sandbox by `npx -y @sandhaven/mcp`, and returns its output. */
export async function runByNpx(service: Reached, sandbox: string, command: string): Promise<unknown> {
  const registry = await startRegistry();
  const user = await newcomer(registry, process.execPath);
  const client = new Client({ name: 'test', version: '1' });
  try {
    await publishPackages(registry);
    const env = { ...user.env, SANDHAVEN_URL: service.url, SANDHAVEN_API_KEY: service.apiKey };
    const bridge = { command: 'npx', args: ['-y', '@sandhaven/mcp'], env, cwd: user.folder };
    await client.connect(new StdioClientTransport(bridge));
    const call = { name: 'Sandbox_RunCommand', arguments: { sandbox, command } };
    const { structuredContent } = await client.callTool(call);
    return (structuredContent as { output?: string }).output;
  } finally {
    await client.close();
    await user.remove();
    await registry.stop();
  }
}

/** The same by the Python package. */
export async function runByPython(service: Reached, sandbox: string, command: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sandhaven-python-'));
  try {
    const python = (await succeeds(join(root, 'sdk-python/build/python-path.sh'), [], root)).trim();
    const [wheel = ''] = await buildPython(join(folder, 'dist'));
    const site = join(folder, 'site');
    const install = ['install', '--quiet', '--no-index', '--no-deps', '--target', site, wheel];
    await succeeds(python, ['-m', 'pip', ...install], folder);
    const program = `import sys
from sandhaven import Sandhaven
with Sandhaven() as client:
    print(client.run_command(sandbox=sys.argv[1], command=sys.argv[2])["output"], end="")`;
    const env = { PYTHONPATH: site, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey };
    const { status, stdout, stderr } = await run(python, ['-c', program, sandbox, command], folder, env);
    if (status !== 0) throw new Error(stderr);
    return stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
