/** Facts of the installation that clients ask for. */
import { limits } from '../../../model/limits.ts';
import type { DaytonaCall, DaytonaRoute } from '../base/call.ts';
import { toolboxUrl } from './sandbox-answer.ts';
import { BASE } from './snapshots.ts';

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
