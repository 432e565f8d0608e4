/** Proof of `make up` over HTTP: creates a sandbox, runs code in it and deletes it, with the time of each step. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { SandhavenError } from '../model/errors.ts';

/**
 * Returns the proof as one line. Fails when any step fails; with `resource_exhausted` when there is no room for one more
 * sandbox, which is no defect of the service.
 * @param chain Chain of the service's own certificate: the only trusted one, regardless of its names; absent for plain
 *   HTTP.
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
