/** Sandboxes that end at their time, with the token for work inside them: POST /sandboxes, and what forks share with it. */
import type { SandboxView } from '../../../catalog/base/sandbox-view.ts';
import { type ErrorCode, invalidArgument, SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { NetworkRequest } from '../../../model/network/setting.ts';
import type { DaytonaCall as Call } from '../../daytona/base/call.ts';
import { isAsked } from '../../daytona/base/errors.ts';
import { rulesOfRange } from '../../daytona/control/network.ts';
import { errorOf, NotHere, type PlainError } from '../base/errors.ts';
import { endAfter, idIn, labelsOf, shown, startedAnswer } from './answer.ts';
import { snapshotName } from './snapshots.ts';

/** Linux user that programs of E2B's users expect. */
export const USUAL_USER = 'user';

/** Until its end, where a client says nothing. */
export const USUAL_SECONDS = 15;

/** Templates that are the base image here. */
export const baseTemplates = ['', 'base', 'code-interpreter-v1'];

const refusals: Record<string, string> = {
  volumeMounts: 'There are no volumes here.',
  iam: 'Sandboxes have no identity at other services here.',
};

export async function create(call: Call): Promise<Record<string, unknown>> {
  const { body } = call;
  for (const [field, reason] of Object.entries(refusals))
    if (isAsked(body[field])) throw new NotHere(`${field}: ${reason}`);
  const network = (body['network'] ?? {}) as Record<string, unknown>;
  const mayBePublic = call.services.publicPorts.isAllowed;
  if (network['allowPublicTraffic'] === true && !mayBePublic)
    throw new NotHere('network.allowPublicTraffic: the operator lets no port be open to everybody here.');
  const template = snapshotName(String(body['templateID'] ?? ''));
  const key = call.request.headers['idempotency-key'];
  const created = await call.tool(
    'Sandbox.CreateSandbox',
    {
      ...(baseTemplates.includes(template) ? {} : { snapshot: template }),
      ...{
        labels: labelsOf(body),
        env_vars: body['envVars'],
        user: USUAL_USER,
        auto_stop_minutes: 0,
      },
      network: askedNetwork(network, body['allow_internet_access']),
    },
    typeof key === 'string' ? { idempotencyKey: key } : {},
  );
  const sandbox = created['id'] as string;
  const completion = {
    wakes: (body['autoResume'] as { enabled?: boolean } | null | undefined)?.enabled === true,
    seconds: Number(body['timeout'] ?? USUAL_SECONDS),
    isPublic: mayBePublic && network['allowPublicTraffic'] !== false,
  };
  await complete(call, sandbox, completion, () => welcome(call, sandbox));
  return startedAnswer(call, await shown(call, sandbox));
}

/** Settings that follow the creation. */
export interface Completion {
  /** Any use of it wakes it. */
  wakes: boolean;
  /** Until its end. */
  seconds: number;
  /** Its ports are open to everybody. */
  isPublic: boolean;
}

/**
 * Completes a new sandbox. One that cannot be completed is not what was asked for, so it goes.
 * @param first What comes before its time begins.
 */
export async function complete(
  call: Call,
  sandbox: string,
  { wakes, seconds, isPublic }: Completion,
  first: () => Promise<void> = async () => {},
): Promise<void> {
  try {
    await first();
    if (wakes) await call.action('SetSandboxSleep', { sandbox, wake: true });
    await endAfter(call, await shown(call, sandbox), seconds);
    if (isPublic) await call.action('SetPublicPorts', { sandbox, all: true });
  } catch (error) {
    await call.tool('Sandbox.DeleteSandbox', { sandbox });
    throw error;
  }
}

/**
 * Makes the account, which else comes with its first use, and gives it the folder in which frameworks work. An image may have neither: then
 * the calls that need it say why.
 */
async function welcome(call: Call, sandbox: string): Promise<void> {
  try {
    await call.action('GetFileDetails', { sandbox, path: '.', user: USUAL_USER, depth: 0 });
    const owner = { owner: USUAL_USER, group: USUAL_USER };
    await call.action('SetFileAttributes', { sandbox, path: '/workspace', user: 'root', ...owner });
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
  }
}

/** Answers for the aliases of templates. */
export async function alias(call: Call): Promise<Record<string, unknown>> {
  const name = snapshotName(call.params['alias'] ?? '');
  if (!baseTemplates.includes(name)) await call.tool('Sandbox.GetSnapshot', { snapshot: name });
  if (name === '') throw new SandhavenError('not_found', 'There is no such template.');
  return { templateID: name, public: true };
}

// Networks as E2B's clients ask for them: lists of what is denied and of what is allowed all the same.

const EVERYTHING = '0.0.0.0/0';
const notHere = ['rules', 'egressProxy', 'maskRequestHost', 'httpsPorts'];

type Fields = Record<string, unknown>;

/** Returns undefined where nothing is denied. A list of what is allowed says nothing then. */
export function askedNetwork(network: Fields, allowsInternet: unknown): NetworkRequest | undefined {
  const field = notHere.find((name) => isAsked(network[name]));
  if (field !== undefined)
    throw new NotHere(`network.${field}: Networks have rules of addresses and names here.`);
  const denied = listIn(network, 'denyOut');
  const deniesAll = allowsInternet === false || denied.includes(EVERYTHING);
  if (!deniesAll && denied.length > 0)
    throw new NotHere(
      'network.denyOut: A network names what it allows here. Deny all traffic, and allow the rest.',
    );
  const allow = listIn(network, 'allowOut').flatMap((item) =>
    RANGE.test(item) ? rulesOfRange(item) : [item],
  );
  if (!deniesAll) return undefined;
  return allow.length > 0 ? { allow } : 'none';
}

/** PUT /sandboxes/{id}/network: all of it anew. */
export async function setNetwork(call: Call): Promise<void> {
  const network = askedNetwork(call.body, call.body['allow_internet_access']) ?? 'open';
  await call.action('SetNetwork', { sandbox: idIn(call), network });
}

/** An address, or a range of them. */
const RANGE = /^\d[\d.]*(?:\/\d+)?$/;

function listIn(network: Fields, name: string): string[] {
  const list = network[name] ?? [];
  if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  throw invalidArgument(`network.${name}`, `network.${name} must be a list of texts.`);
}

// Forks: sandboxes that start from the files of another, and end at a time of their own.

type Fork = { sandbox: Record<string, unknown> } | { error: PlainError };

/** As ForkSandbox answers. */
interface Forks {
  sandboxes: SandboxView[];
  failed: { code: ErrorCode; detail: string }[];
}

/** POST /sandboxes/{id}/fork */
export async function fork(call: Call): Promise<Fork[]> {
  const seconds = secondsIn(call.body['timeout']);
  const { id, wake = false } = await shown(call);
  const completion = { wakes: wake, seconds, isPublic: await call.services.publicPorts.isOpen(id) };
  const forked = await call.tool('Sandbox.ForkSandbox', { sandbox: id, count: call.body['count'] });
  const { sandboxes, failed } = forked as unknown as Forks;
  return [
    ...(await Promise.all(sandboxes.map((view) => completed(call, view, completion)))),
    ...failed.map(({ code, detail }) => ({ error: errorOf(code, detail) })),
  ];
}

async function completed(call: Call, { id }: SandboxView, completion: Completion): Promise<Fork> {
  try {
    await complete(call, id, completion);
    return { sandbox: await startedAnswer(call, await shown(call, id)) };
  } catch (error) {
    if (!(error instanceof SandhavenError)) throw error;
    return { error: errorOf(error.code, error.message) };
  }
}

/** Is checked first: of many forks none can take a wrong one. */
function secondsIn(timeout: unknown): number {
  const seconds = timeout ?? USUAL_SECONDS;
  const { max } = limits.deadlineSeconds;
  if (typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 1 && seconds <= max)
    return seconds;
  throw invalidArgument('timeout', `timeout must be 1 to ${max} seconds.`);
}
