/**
 * Logs in through the service's page: shows a code, and waits until its user has approved it there (RFC 8628). The machine
 * needs no browser: any other device will do.
 */
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { callOpenRoute } from '../client.ts';
import type { CliIo } from '../io.ts';
import { printable } from '../render.ts';

const offer = z.looseObject({
  device_code: z.string().min(1).max(limits.signIn.secretChars),
  user_code: z.string().min(1).max(40),
  verification_uri: z.string().max(2_000),
  verification_uri_complete: z.string().max(2_000),
  expires_in: z.number().positive().max(86_400),
  interval: z.number().positive().max(60),
});

const answer = z.looseObject({ status: z.string(), api_key: z.string().optional() });

/** Returns the new key. Rejects with what the service says, and on the user's interrupt. */
export async function deviceLogin(url: string, { stderr, signal }: CliIo): Promise<string> {
  const given = offer.parse(
    await callOpenRoute(url, '/v1/sign-in/device', { machine: machineName() }, signal),
  );
  stderr.write(`Open ${printable(given.verification_uri_complete)}\n`);
  stderr.write(`in any browser, and approve the code ${printable(given.user_code)} there.\n`);
  const deadline = performance.now() + given.expires_in * 1_000;
  while (performance.now() < deadline) {
    await sleep(given.interval * 1_000, undefined, { signal });
    const body = { device_code: given.device_code };
    const said = answer.parse(await callOpenRoute(url, '/v1/sign-in/device/answer', body, signal));
    if (said.api_key !== undefined) return said.api_key;
  }
  throw new SandhavenError('timeout', 'Nobody approved the code in time.', {
    hint: 'Run `sandhaven login` again.',
  });
}

/** Name by which the user knows it on the page. */
function machineName(): string {
  const name = hostname().replaceAll(/\p{C}/gu, '').slice(0, limits.deviceSignIn.machineChars);
  return name === '' ? 'a machine' : name;
}
