/**
 * Services that were logged in to, each with its key, in a file that only its owner can read. It is replaced as a whole,
 * so a crash leaves the one before or the one after.
 */
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { notFound, SandhavenError } from '../../model/errors.ts';
import { isOwnerReference } from '../../model/team.ts';
import type { CliIo } from './io.ts';

/** A file of one person on one machine. */
const bounds = { fileBytes: 256 * 1_024, contexts: 100, nameChars: 100, urlChars: 2_000, keyChars: 1_000 };

export const contextName = z
  .string()
  .max(bounds.nameChars)
  .regex(
    /^[A-Za-z0-9_:[][A-Za-z0-9._:[\]-]*$/,
    'must consist of letters, digits, dot, underscore, colon and hyphen',
  );

/** Keys travel in a header, so they are visible ASCII. */
export const storedKey = z
  .string()
  .max(bounds.keyChars)
  .regex(/^[\x21-\x7e]+$/, 'must be one word of visible characters');

const context = z.strictObject({
  url: z
    .string()
    .max(bounds.urlChars)
    .refine(
      (url) => serviceUrl(url) === url,
      'must be the URL of a service, with https unless it is this machine',
    ),
  key: storedKey,
  /** Team that commands act for. */
  team: z.string().refine(isOwnerReference, 'must be the name or the id of a team, or a user').optional(),
});

const contents = z
  .strictObject({
    version: z.literal(1),
    current: contextName.nullable(),
    contexts: z
      .record(contextName, context)
      .refine((all) => Object.keys(all).length <= bounds.contexts, `must be at most ${bounds.contexts}`),
  })
  .refine(({ current, contexts }) => current === null || Object.hasOwn(contexts, current), {
    path: ['current'],
    message: 'must be one of the contexts',
  });

type Context = z.output<typeof context>;
export type Contexts = z.output<typeof contents>;

const none: Contexts = { version: 1, current: null, contexts: {} };

/** Returns null where the environment names no home. */
export function contextFile({ env }: Pick<CliIo, 'env'>): string | null {
  // A relative path there is invalid, by the specification of the variable.
  const given = env['XDG_CONFIG_HOME'];
  const config = given?.startsWith('/') ? given : null;
  const home = env['HOME'] || null;
  const folder = config ?? (home ? join(home, '.config') : null);
  return folder === null ? null : join(folder, 'sandhaven', 'contexts.json');
}

/** Empty without a file. Rejects with `failed_precondition` for one that others can read, or that is not understood. */
export async function readContexts(io: Pick<CliIo, 'env'>): Promise<Contexts> {
  const path = contextFile(io);
  if (path === null) return none;
  const text = await readOwn(path);
  if (text === null) return none;
  const parsed = contents.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  // Nothing of the contents is shown but the names of fields, since they hold keys.
  const where =
    issue && issue.path.length > 0 ? `${issue.path.join('.')} ${issue.message}` : 'it is not understood';
  throw unusable(path, `${where}.`, `Correct it, or remove ${path} and log in again.`);
}

/** Rejects with `invalid_argument` before anything is written when there are too many. */
export async function writeContexts(io: Pick<CliIo, 'env'>, given: Contexts): Promise<void> {
  const path = contextFile(io);
  if (path === null) {
    throw new SandhavenError('failed_precondition', 'There is no folder for contexts: HOME is not set.', {
      hint: 'Set HOME or XDG_CONFIG_HOME, or give the key in SANDBOX_API_KEY.',
    });
  }
  const checked = contents.safeParse(given);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw new SandhavenError('invalid_argument', `The context cannot be stored: ${issue?.message}.`, {
      hint: '`sandhaven context ls` lists those that are stored, and `context rm` removes one.',
    });
  }
  await replace(path, `${JSON.stringify(checked.data, null, 2)}\n`).catch((error: NodeJS.ErrnoException) => {
    throw unusable(path, `it cannot be written (${error.code}).`, 'Check the permissions of its folder.');
  });
}

async function readOwn(path: string): Promise<string | null> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw unusable(path, `it cannot be read (${error.code}).`, 'Check its permissions.');
  });
  if (file === null) return null;
  try {
    const stat = await file.stat();
    assertOwn(path, stat);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stat.size), 0, stat.size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function assertOwn(path: string, stat: Stats): void {
  if (!stat.isFile()) throw unusable(path, 'it is not a regular file.', `Remove ${path}, and log in again.`);
  if (stat.size > bounds.fileBytes)
    throw unusable(path, 'it is too large.', `Remove ${path}, and log in again.`);
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    throw unusable(path, 'others can read the keys in it.', `Run \`chmod 600 ${path}\`.`);
}

async function replace(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const unfinished = join(folder, `.contexts-${randomUUID()}`);
  try {
    const file = await open(unfinished, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function unusable(path: string, why: string, hint: string): SandhavenError {
  return new SandhavenError('failed_precondition', `The file of contexts ${path} cannot be used: ${why}`, {
    hint,
  });
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Addresses of services that a key may be stored for. */
export function isLoopback({ hostname }: URL): boolean {
  return loopback.test(hostname);
}

/** Returns the address without its last slash; null unless a key may be sent there in a header. */
export function serviceUrl(text: string): string | null {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  if (url.protocol === 'http:' && !isLoopback(url)) return null;
  if (url.username || url.password || url.search || url.hash) return null;
  return url.href.replace(/\/+$/, '');
}

/** The context that a command uses. */
export interface NamedContext extends Context {
  name: string;
}

/** Returns the context that is named, else the current one; null without either. */
export async function chosenContext(
  io: Pick<CliIo, 'env'>,
  name: string | undefined,
): Promise<NamedContext | null> {
  const { contexts, current } = await readContexts(io);
  const chosen = name ?? current;
  if (chosen === null) return null;
  const context = Object.hasOwn(contexts, chosen) ? contexts[chosen] : undefined;
  if (context) return { name: chosen, ...context };
  throw unknownContext(chosen, Object.keys(contexts));
}

function unknownContext(name: string, known: string[]): SandhavenError {
  const hint =
    known.length === 0
      ? 'There is none yet: `sandhaven login URL` makes one.'
      : `There are ${known.join(', ')}.`;
  return notFound('context', `There is no context '${name}'.`, hint);
}

/** A command must not act on another service than the one that its own flag names. */
export function assertNothingElse({ env }: Pick<CliIo, 'env'>, context: string): void {
  const other = ['SANDBOX_API_URL', 'SANDBOX_API_KEY'].find((variable) => env[variable]);
  if (other === undefined) return;
  throw new SandhavenError('invalid_argument', `${other} is set, and takes precedence over a context.`, {
    parameter: 'context',
    hint: `Unset it to use the context '${context}', or leave --context out.`,
  });
}
