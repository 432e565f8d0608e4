/** Actions on ports of sandboxes that are open to everybody. */
import { z } from 'zod';
import { sandbox } from '../catalog/parameters/sandbox.ts';
import { invalidArgument } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { PublicPorts } from '../model/sandbox-access.ts';
import { defineAction } from './action.ts';

const port = z.int().min(1).max(65_535);

const output = z.looseObject({
  sandbox: z.string(),
  all: z.boolean().describe('true: every port is open.'),
  ports: z.array(z.int()).describe('Those that are open one by one.'),
  allowed: z.boolean().describe('true: the operator lets owners open ports.'),
});

function shown(sandbox: string, ports: PublicPorts, allowed: boolean): z.output<typeof output> {
  return { sandbox, all: ports === 'all', ports: ports === 'all' ? [] : [...ports], allowed };
}

export const getPublicPorts = defineAction({
  name: 'GetPublicPorts',
  title: 'Show the public ports of a sandbox',
  description:
    'Shows which ports of one of your sandboxes everybody may visit, at the addresses of standard previews.',
  role: 'member',
  scope: 'sandboxes:read',
  command: 'ports get',
  argument: 'sandbox',
  input: z.strictObject({ sandbox }),
  output,
  async handler({ sandbox: reference }, { services: { publicPorts }, caller }) {
    const { sandboxId, ports } = await publicPorts.of(caller, reference);
    return shown(sandboxId, ports, publicPorts.isAllowed);
  },
});

export const setPublicPorts = defineAction({
  name: 'SetPublicPorts',
  title: 'Open ports of a sandbox to everybody',
  description:
    'Opens exactly these ports of one of your sandboxes to everybody who has the address of the standard preview, without a token, ' +
    'where the operator allows it. Without ports and without all it closes all of them. Visits without a token end, as they do when ' +
    'previews are revoked, which closes all ports.',
  role: 'member',
  scope: 'sandboxes:write',
  forViewers: false,
  command: 'ports set',
  argument: 'sandbox',
  input: z.strictObject({
    sandbox,
    ports: z.array(port).max(limits.preview.publicPorts).default([]),
    all: z.boolean().default(false).describe('Every port, in place of ports.'),
  }),
  output,
  async handler({ sandbox: reference, ports, all }, { services: { publicPorts }, caller }) {
    if (all && ports.length > 0) throw invalidArgument('ports', 'Give ports or all, not both.');
    const wanted = all ? 'all' : [...new Set(ports)].sort((a, b) => a - b);
    const set = await publicPorts.set(caller, reference, wanted);
    return shown(set.sandboxId, set.ports, publicPorts.isAllowed);
  },
});
