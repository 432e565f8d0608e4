/** Proof that a service works, of `up --prove` and of `sandhaven prove`: creates a sandbox, runs code in it and deletes it. */
import { readFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { SandhavenError } from '../model/errors.ts';
import { usageError } from '../surfaces/cli/flags.ts';
import type { CliIo } from '../surfaces/cli/io.ts';
import { reachable } from './options/announce.ts';
import { parseUpOptions, type UpOptions } from './options/up-options.ts';

const help = `Usage: sandhaven prove

Creates a sandbox on the service of this machine, runs code in it and deletes it. Finds the service as \`up\` was
configured: by the environment and by the file that SANDHAVEN_CONFIG names. The key is SANDBOX_API_KEY, else api-key in the
data directory. Exit status 7 when the service does not answer or a step fails.
`;

/** Proves a service that runs on this machine. @returns the exit status */
export async function proveCommand(argv: string[], { env, stdout }: CliIo): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(help);
    return 0;
  }
  if (argv.length > 0)
    throw usageError('`sandhaven prove` takes no arguments.', 'See sandhaven prove --help.');
  const options = parseUpOptions([], env);
  const url = urlOf(options);
  const apiKey = env['SANDBOX_API_KEY'] || (await readKey(options.dataDir));
  const chain = options.tls === null ? undefined : await readFile(options.tls.certFile, 'utf8');
  const proof = await prove(url, apiKey, chain).catch((error: unknown) => {
    throw error instanceof SandhavenError ? error : unreachable(url, error);
  });
  stdout.write(`${proof}\n`);
  return 0;
}

/**
 * Returns the proof as one line, with the time of each step. Fails when any step fails; with `resource_exhausted` when there is
 * no room for one more sandbox, which is no defect of the service.
 * @param chain Chain of the service's own certificate: the only trusted one, regardless of its names; absent for plain HTTP.
 */
export async function prove(url: string, apiKey: string, chain?: string): Promise<string> {
  const call = async (tool: string, parameters: object): Promise<Record<string, unknown>> => {
    const { status, text } = await post(`${url}/v1/tools/Sandbox.${tool}`, apiKey, parameters, chain);
    const body = JSON.parse(text) as Record<string, unknown>;
    if (status === 200) return body;
    const code = body['code'] === 'resource_exhausted' ? 'resource_exhausted' : 'unavailable';
    throw new SandhavenError(code, `The proof failed at ${tool}: ${body['detail']}`);
  };
  const created = await timed(() => call('CreateSandbox', { ephemeral: true }));
  const sandbox = created.result['id'];
  const code = 'import platform; print(platform.python_version())';
  const ran = await timed(() => call('RunCode', { sandbox, code })).catch(async (error: unknown) => {
    await call('DeleteSandbox', { sandbox }).catch(() => {});
    throw error;
  });
  const deleted = await timed(() => call('DeleteSandbox', { sandbox }));
  const answer = String(ran.result['stdout']).trim();
  return `It works: sandbox created in ${created.ms} ms, Python ${answer} run in ${ran.ms} ms, deleted in ${deleted.ms} ms.`;
}

function urlOf({ listen, tls }: UpOptions): string {
  const host = reachable(listen.host);
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tls === null ? 'http' : 'https'}://${name}:${listen.port}`;
}

async function readKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'api-key');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new SandhavenError('unauthenticated', `SANDBOX_API_KEY is not set, and ${file} cannot be read.`, {
      hint: 'Run it as root, on the machine of the service.',
    });
  }
}

function unreachable(url: string, error: unknown): SandhavenError {
  return new SandhavenError(
    'unavailable',
    `No service answers at ${url}.`,
    { hint: 'Start it with `systemctl start sandhaven` or `sandhaven up`.' },
    error,
  );
}

function post(
  url: string,
  apiKey: string,
  parameters: object,
  chain: string | undefined,
): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const trust = { ca: chain, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
  return new Promise((resolve, reject) => {
    const answered = (answer: IncomingMessage) =>
      textOf(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
    const options = { method: 'POST', headers };
    const sent =
      chain === undefined
        ? httpRequest(url, options, answered)
        : httpsRequest(url, { ...options, ...trust }, answered);
    sent.once('error', reject).end(JSON.stringify(parameters));
  });
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const begun = performance.now();
  const result = await work();
  return { result, ms: Math.round(performance.now() - begun) };
}
