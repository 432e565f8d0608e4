/** Sandhaven with a plain MCP client: list the tools, make a sandbox, run something, delete the sandbox. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { headers, mcpUrl } from '../connection.ts';

const client = new Client({ name: 'example', version: '1.0.0' });
const address = mcpUrl('sandboxes', 'execution');
await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));

const { tools } = await client.listTools();
console.log(`${tools.length} tools, such as ${tools[0]?.name}`);

/** A failed call is a result too: `isError`, with the problem as text and as structured content. */
async function call(name: string, parameters: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { isError, structuredContent } = await client.callTool(
    { name, arguments: parameters },
    // Asking for progress also keeps a long call from running into the client's own timeout.
    { onprogress: ({ message }) => console.error(message), resetTimeoutOnProgress: true },
  );
  const content = structuredContent as Record<string, unknown>;
  if (isError) throw new Error(`${name}: ${JSON.stringify(content['error'])}`);
  return content;
}

const sandbox = await call('Sandbox_CreateSandbox', { ephemeral: true, cpu: 1, memory_gb: 1, disk_gb: 1 });
try {
  const command = 'echo "Hello from $(uname -s)" && python3 -c "print(6 * 7)"';
  const ran = await call('Sandbox_RunCommand', { sandbox: sandbox['id'], command });
  console.log(ran['output']);
} finally {
  await call('Sandbox_DeleteSandbox', { sandbox: sandbox['id'] });
  await client.close();
}
