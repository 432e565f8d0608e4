/** Credentials in Docker's file: `$DOCKER_CONFIG/config.json`, else `~/.docker/config.json`. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { SandhavenError } from '../../../model/errors.ts';
import { DEFAULT_REGISTRY, registryKey } from '../../../model/registries.ts';
import type { Account } from './session.ts';

const configSchema = z.object({
  auths: z.record(z.string(), z.object({ auth: z.string().optional() })).optional(),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});

/** Docker's own key of its registry. */
const OLD_KEY = 'https://index.docker.io/v1/';

/**
 * Returns the credentials of a registry; null when the file has none, or is missing. Rejects with `failed_precondition`
 * when they are kept by another program, or the file cannot be understood; its contents are in no error.
 */
export async function dockerCredential(
  registry: string,
  env: Record<string, string | undefined>,
): Promise<Account | null> {
  const file = join(env['DOCKER_CONFIG'] || join(env['HOME'] || homedir(), '.docker'), 'config.json');
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  const { auths = {}, credHelpers = {}, credsStore } = parse(text, file);
  const entry = Object.entries(auths).find(([key]) => isFor(key, registry))?.[1];
  if (entry?.auth) return decode(entry.auth, file);
  const helper = Object.entries(credHelpers).find(([key]) => isFor(key, registry))?.[1];
  if (helper === undefined && !(entry && credsStore)) return null;
  throw broken(`${file} leaves the credentials of ${registry} to another program.`);
}

function isFor(key: string, registry: string): boolean {
  if (key === OLD_KEY) return registryKey(registry) === DEFAULT_REGISTRY;
  return registryKey(key.replace(/^https?:\/\//, '').replace(/\/.*$/, '')) === registryKey(registry);
}

function decode(auth: string, file: string): Account {
  const text = Buffer.from(auth, 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 1) throw broken(`${file} has an entry that cannot be understood.`);
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function parse(text: string, file: string): z.infer<typeof configSchema> {
  try {
    return configSchema.parse(JSON.parse(text));
  } catch {
    throw broken(`${file} cannot be understood.`);
  }
}

function broken(detail: string): SandhavenError {
  return new SandhavenError('failed_precondition', detail, {
    hint: 'Give --username, and the password with --password-stdin or --password-env.',
  });
}
