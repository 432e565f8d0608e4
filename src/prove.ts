/** The proof that `make up` shows: over HTTP, a sandbox created, code run in it, deleted, each with its time. */
import { SandhavenError } from './model/errors.ts';

/** One line. Fails when any step does. */
export async function prove(url: string, apiKey: string): Promise<string> {
  const call = async (tool: string, parameters: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}/v1/tools/Sandbox.${tool}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
    });
    const body = (await response.json()) as Record<string, unknown>;
    if (!response.ok)
      throw new SandhavenError('unavailable', `The proof failed at ${tool}: ${body['detail']}`);
    return body;
  };
  const created = await timed(() => call('CreateSandbox', { ephemeral: true }));
  const sandbox = created.result['id'];
  const ran = await timed(() =>
    call('RunCode', { sandbox, code: 'import platform; print(platform.python_version())' }),
  );
  const deleted = await timed(() => call('DeleteSandbox', { sandbox }));
  const answer = String(ran.result['stdout']).trim();
  return `It works: sandbox created in ${created.ms} ms, Python ${answer} run in ${ran.ms} ms, deleted in ${deleted.ms} ms.`;
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; ms: number }> {
  const begun = performance.now();
  const result = await work();
  return { result, ms: Math.round(performance.now() - begun) };
}
