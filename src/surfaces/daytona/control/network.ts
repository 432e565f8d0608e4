/** Networks of sandboxes as Daytona's clients ask for them: at a creation, and of one that is there. */
import { invalidArgument } from '../../../model/errors.ts';
import type { NetworkRequest } from '../../../model/network/setting.ts';
import type { NetworkSetting } from '../../../model/sandbox.ts';
import { rulesOfRange, splitRules } from '../answers/network.ts';
import type { DaytonaCall } from '../base/call.ts';
import type { DaytonaRoute } from '../base/route.ts';
import { answer, shown } from './shown.ts';

export const networkRoutes: readonly DaytonaRoute[] = [
  {
    method: 'POST',
    path: '/sandbox/:sandbox/network-settings',
    async handler(call) {
      const { id, network } = await shown(call);
      await call.action('SetNetwork', { sandbox: id, network: changedNetwork(call.body, network) });
      return answer(call, id);
    },
  },
];

type Body = DaytonaCall['body'];

/** Returns undefined where the creation asks for none: the sandbox then gets its owner's usual one. */
export function askedNetwork(body: Body): NetworkRequest | undefined {
  if (flagIn(body)) return 'none';
  const allow = [...(rangesIn(body) ?? []), ...(domainsIn(body) ?? [])];
  return allow.length > 0 ? { allow } : undefined;
}

/** A list that is left out stays as it is, and so do profiles; a block that was set ends by a list, or when it is taken back. */
export function changedNetwork(body: Body, present: NetworkSetting): NetworkRequest {
  const block = flagIn(body);
  if (block) return 'none';
  const { ranges, others } = splitRules(present.allow);
  const allow = [...(rangesIn(body) ?? ranges.flatMap(rulesOfRange)), ...(domainsIn(body) ?? others)];
  if (allow.length + present.profiles.length > 0) return { allow, profiles: present.profiles };
  return block === undefined && present.mode === 'none' ? 'none' : 'open';
}

function flagIn({ networkBlockAll: flag }: Body): boolean | undefined {
  if (flag === undefined || flag === null) return undefined;
  if (typeof flag === 'boolean') return flag;
  throw invalidArgument('networkBlockAll', 'networkBlockAll must be true or false.');
}

function rangesIn(body: Body): string[] | undefined {
  return listIn(body, 'networkAllowList')?.flatMap(rulesOfRange);
}

function domainsIn(body: Body): string[] | undefined {
  return listIn(body, 'domainAllowList');
}

function listIn(body: Body, name: string): string[] | undefined {
  const text = body[name];
  if (text === undefined || text === null) return undefined;
  if (typeof text !== 'string') throw invalidArgument(name, `${name} must be a text with commas between.`);
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
