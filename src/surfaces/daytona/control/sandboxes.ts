/** One sandbox in the control API: its lifecycle, copies, sizes, labels, times and network. */
import { invalidArgument } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import type { DaytonaCall, DaytonaRoute } from '../base/call.ts';
import { isAsked, NotHere } from '../base/errors.ts';
import { answerAny, deleteAny } from './builds.ts';
import { deleteMinutes, endAfter, given, setPublic } from './create.ts';
import { changedNetwork } from './network.ts';
import { answer, changed, shown, toolboxUrl } from './sandbox-answer.ts';
import { BASE } from './snapshots.ts';

const ONE = '/sandbox/:sandbox';

export const sandboxRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: ONE, handler: answerAny },
  { method: 'DELETE', path: ONE, handler: deleteAny },
  post('start', (call) => changed(call, 'Sandbox.StartSandbox')),
  // A stop kills what has not ended within two seconds, so force adds nothing.
  post('stop', (call) => changed(call, 'Sandbox.StopSandbox')),
  post('archive', (call) => changed(call, 'Sandbox.ArchiveSandbox')),
  post('recover', recover),
  post('snapshot', takeSnapshot),
  post('fork', fork),
  post('resize', (call) => {
    const { cpu, memory, disk } = call.body;
    return changed(call, 'Sandbox.ResizeSandbox', { cpu, memory_gb: memory, disk_gb: disk });
  }),
  { method: 'PUT', path: `${ONE}/labels`, handler: setLabels },
  post('autostop/:interval', (call) => configured(call, 'auto_stop_minutes', minutes(call))),
  post('autoarchive/:interval', (call) => configured(call, 'auto_archive_minutes', minutes(call))),
  post('autodelete/:interval', (call) =>
    configured(call, 'auto_delete_minutes', deleteMinutes(minutes(call))),
  ),
  post('ttl/:interval', setEnd),
  post('public/:public', publish),
  post('network-settings', setNetwork),
  { ...post('last-activity', noteActivity), status: 201 },
];

function post(path: string, handler: DaytonaRoute['handler']): DaytonaRoute {
  return { method: 'POST', path: `${ONE}/${path}`, handler };
}

async function recover(call: DaytonaCall): Promise<unknown> {
  if (call.query['skipStart'] === 'true') throw new NotHere('A recovery starts the sandbox here.');
  return changed(call, 'Sandbox.StartSandbox');
}

/** The snapshot is whole when the answer comes, so that clients wait for nothing. */
async function takeSnapshot(call: DaytonaCall): Promise<unknown> {
  const { name, includeMemory } = call.body;
  if (isAsked(includeMemory)) {
    throw invalidArgument('includeMemory', 'includeMemory must be false: a snapshot has no memory here.');
  }
  await call.tool('Sandbox.SnapshotSandbox', { sandbox: call.params['sandbox'], name });
  return answer(call);
}

async function fork(call: DaytonaCall): Promise<unknown> {
  const { sandbox } = call.params;
  const forked = await call.tool('Sandbox.ForkSandbox', { sandbox, name: given(call.body['name']) });
  // One that cannot be made is an error of the call.
  const [only] = forked['sandboxes'] as { id: string }[];
  return answer(call, only?.id);
}

async function setLabels(call: DaytonaCall): Promise<unknown> {
  const { sandbox } = call.params;
  const { labels } = await call.tool('Sandbox.SetSandboxLabels', { sandbox, labels: call.body['labels'] });
  return { labels };
}

function configured(call: DaytonaCall, parameter: string, value: unknown): Promise<unknown> {
  return changed(call, 'Sandbox.ConfigureSandboxAuto', { [parameter]: value });
}

function minutes({ params }: DaytonaCall): number {
  return Number(params['interval']);
}

/** 0 removes the end, as there. */
async function setEnd(call: DaytonaCall): Promise<unknown> {
  await endAfter(call, call.params['sandbox'], minutes(call));
  return answer(call);
}

async function publish(call: DaytonaCall): Promise<unknown> {
  await setPublic(call, call.params['sandbox'], call.params['public'] === 'true');
  return answer(call);
}

async function setNetwork(call: DaytonaCall): Promise<unknown> {
  const { id, network } = await shown(call);
  await call.action('SetNetwork', { sandbox: id, network: changedNetwork(call.body, network) });
  return answer(call, id);
}

/** A look at its ports is a use of the sandbox, and there is no lesser one. */
async function noteActivity(call: DaytonaCall): Promise<void> {
  await call.tool('Sandbox.ListPorts', { sandbox: call.params['sandbox'] });
}

// Facts of the installation that clients ask for.

export const configRoutes: readonly DaytonaRoute[] = [
  { method: 'GET', path: '/config', handler: async (call) => configuration(call) },
  // Clients before 0.155 keep the answer for all sandboxes of a region.
  {
    method: 'GET',
    path: '/sandbox/:sandbox/toolbox-proxy-url',
    handler: async (call) => ({ url: toolboxUrl(call) }),
  },
  // There are no volumes, so this list is whole; everything else about them is not here.
  { method: 'GET', path: '/volumes', handler: async () => [] },
];

/** Clients look for an address of analytics alone, which is absent: there are none. Strict ones want the rest. */
function configuration(call: DaytonaCall): Record<string, unknown> {
  return {
    version: 'sandhaven',
    oidc: { issuer: '', clientId: '', audience: '' },
    ...{ linkedAccountsEnabled: false, announcements: {}, maintananceMode: false },
    ...{ environment: 'sandhaven', dashboardUrl: call.origin },
    ...{ proxyTemplateUrl: '', proxyToolboxUrl: toolboxUrl(call) },
    defaultSnapshot: BASE,
    maxAutoArchiveInterval: limits.autoArchiveMinutes.max,
  };
}
