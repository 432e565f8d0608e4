/** POST /sandboxes: a sandbox that ends at its time, with the token for work inside it. */
import { SandhavenError } from '../../../model/errors.ts';
import type { DaytonaCall as Call } from '../../daytona/base/call.ts';
import { isAsked } from '../../daytona/base/errors.ts';
import { NotHere } from '../base/errors.ts';
import { endAfter, labelsOf, shown, startedAnswer } from './answer.ts';

/** Linux user that programs of E2B's users expect. */
const USUAL_USER = 'user';

/** Until its end, where a client says nothing. */
export const USUAL_SECONDS = 15;

/** Templates that are the base image here. */
const baseTemplates = ['', 'base', 'code-interpreter-v1'];

const refusals: Record<string, string> = {
  mcp: 'There is no gateway of MCP servers inside a sandbox here.',
  volumeMounts: 'There are no volumes here.',
  iam: 'Sandboxes have no identity at other services here.',
};

export async function create(call: Call): Promise<Record<string, unknown>> {
  const { body } = call;
  for (const [field, reason] of Object.entries(refusals))
    if (isAsked(body[field])) throw new NotHere(`${field}: ${reason}`);
  if (body['autoPause'] === true && body['autoPauseMemory'] === false)
    throw new NotHere('autoPauseMemory: A paused sandbox keeps its memory here.');
  const network = (body['network'] ?? {}) as Record<string, unknown>;
  const rules = ['allowOut', 'denyOut', 'rules', 'egressProxy', 'maskRequestHost', 'httpsPorts'];
  const rule = rules.find((name) => isAsked(network[name]));
  if (rule !== undefined) throw new NotHere(`network.${rule}: SetNetwork gives a sandbox rules here.`);
  const mayBePublic = call.services.publicPorts.isAllowed;
  if (network['allowPublicTraffic'] === true && !mayBePublic)
    throw new NotHere('network.allowPublicTraffic: the operator lets no port be open to everybody here.');
  const template = String(body['templateID'] ?? '');
  const key = call.request.headers['idempotency-key'];
  const created = await call.tool(
    'Sandbox.CreateSandbox',
    {
      ...(baseTemplates.includes(template) ? {} : { snapshot: template }),
      ...{
        labels: labelsOf(body['metadata'], body['autoPause'] === true),
        env_vars: body['envVars'],
        user: USUAL_USER,
        auto_stop_minutes: 0,
      },
      network: body['allow_internet_access'] === false ? 'none' : undefined,
    },
    typeof key === 'string' ? { idempotencyKey: key } : {},
  );
  const sandbox = created['id'] as string;
  const wakes = (body['autoResume'] as { enabled?: boolean } | null | undefined)?.enabled === true;
  try {
    if (wakes) await call.action('SetSandboxSleep', { sandbox, wake: true });
    await endAfter(call, await shown(call, sandbox), Number(body['timeout'] ?? USUAL_SECONDS));
    if (mayBePublic && network['allowPublicTraffic'] !== false)
      await call.action('SetPublicPorts', { sandbox, all: true });
  } catch (error) {
    // It would not be what was asked for.
    await call.tool('Sandbox.DeleteSandbox', { sandbox });
    throw error;
  }
  return startedAnswer(call, await shown(call, sandbox));
}

/** Answers for the aliases of templates. */
export async function alias(call: Call): Promise<Record<string, unknown>> {
  const name = call.params['alias'] ?? '';
  if (!baseTemplates.includes(name)) await call.tool('Sandbox.GetSnapshot', { snapshot: name });
  if (name === '') throw new SandhavenError('not_found', 'There is no such template.');
  return { templateID: name, public: true };
}
