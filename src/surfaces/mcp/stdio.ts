/**
 * `sandhaven mcp`: serves MCP on standard input and output. A thin process that passes each call to the
 * running service over HTTP, so it survives restarts of the service, and reports a missing one.
 */
import { parseArgs } from 'node:util';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { selectTools, toolsets } from '../../catalog/toolsets.ts';
import { version } from '../../home.ts';
import { invalidArgument, toProblem } from '../../model/errors.ts';
import { newRequestId } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { createClient } from '../cli/client.ts';
import { connectionWithoutFlags, DEFAULT_URL } from '../cli/connection.ts';
import type { CliIo } from '../cli/io.ts';
import { type CarryOut, createServer } from './server.ts';

const help = `Usage: sandhaven mcp [--toolsets files,git]

Serves MCP on standard input and output, for clients that start a program. Calls go to the running service
at SANDBOX_API_URL (${DEFAULT_URL}), with the key SANDBOX_API_KEY; else to that of the context in use
(\`sandhaven login\`); on the service's own machine the key is taken from its data directory
(SANDHAVEN_DATA_DIR) when it is not given.

  --toolsets …   only these groups of tools, separated by commas (SANDHAVEN_TOOLSETS):
                 ${toolsets.join(', ')}
`;

/** Resolves when the client has closed standard input, or at a termination signal. */
export async function runMcp(argv: string[], { env, stdin, stdout, stderr, signal }: CliIo): Promise<number> {
  const { values } = parseFlags(argv);
  if (values.help) {
    stdout.write(help);
    return 0;
  }
  const tools = selectTools(values.toolsets ?? env['SANDHAVEN_TOOLSETS'], '--toolsets');
  const ended = new Promise<void>((resolve) => {
    stdin.once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const served = serveStdio(() => createServer({ version, tools, carryOut: carryOutThere(env) }), {
    transport: new StdioServerTransport(stdin, stdout, { maxBufferSize: limits.jsonBodyBytes }),
    onerror: (error) => stderr.write(`sandhaven mcp: ${error.name}\n`),
  });
  await ended;
  await served.close();
  return 0;
}

function parseFlags(argv: string[]) {
  try {
    const options = { help: { type: 'boolean', default: false }, toolsets: { type: 'string' } } as const;
    return parseArgs({ args: argv, options });
  } catch {
    const detail = 'sandhaven mcp takes no flags but --toolsets and --help.';
    throw invalidArgument('flags', detail, 'See sandhaven mcp --help.');
  }
}

/** Locates the service at every call: it, and its key, may appear later than the client. */
function carryOutThere(env: CliIo['env']): CarryOut {
  return async (tool, parameters, { signal, progress, live }) => {
    try {
      const found = await connectionWithoutFlags(env);
      return await createClient(found)(tool, parameters, {
        ...{ signal, onProgress: progress },
        ...(live ? { onOutput: live } : {}),
      });
    } catch (error) {
      return { problem: toProblem(error, newRequestId()) };
    }
  };
}
