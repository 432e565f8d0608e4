/** Tools of the ways to what runs in a sandbox: its ports, and SSH. */
import { z } from 'zod';
import { limits } from '../model/limits.ts';
import { defineTool } from './base/tool.ts';
import { optionalSandbox, sandbox } from './parameters/sandbox.ts';
import { integerWithDefault } from './parameters/scalars.ts';

export const listPorts = defineTool({
  name: 'Sandbox.ListPorts',
  title: 'List ports',
  description:
    'Lists the TCP ports that programs in a started sandbox listen on, with name, pid and command of the process. ' +
    'GetPortPreviewUrl shows a server.',
  input: z.strictObject({ sandbox: optionalSandbox }),
  output: z.looseObject({
    ports: z.array(
      z.looseObject({
        port: z.int(),
        state: z.literal('listening'),
        name: z.string(),
        pid: z.int().nullable(),
        command: z.string().nullable().describe(`At most ${limits.listeningPort.commandChars} characters.`),
      }),
    ),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  async handler({ sandbox }, { services, caller, signal }) {
    const ports = await services.previews.ports(caller, sandbox, signal);
    return {
      ports: ports.map(({ port, ...process }) => ({ port, state: 'listening' as const, ...process })),
    };
  },
});

const HEADER = 'x-sandbox-preview-token';
const { min, max, default: standardSeconds } = limits.preview.expiresInSeconds;

export const getPortPreviewUrl = defineTool({
  name: 'Sandbox.GetPortPreviewUrl',
  title: 'Preview a port',
  description:
    'Gives the URL of what a started sandbox serves over HTTP on a port. Standard: send `token` in the header ' +
    'named by `header`. signed: any browser can open it until expires_at; it is a secret. A 502 there: ' +
    'nothing listens; see ListPorts.',
  input: z
    .strictObject({
      sandbox,
      port: z.int().min(1).max(65_535).describe('Port inside the sandbox (1-65535).'),
      signed: z.boolean().default(false).describe('For browsers: the URL itself is the key (default false).'),
      expires_in_seconds: z
        .int()
        .default(standardSeconds)
        .meta({
          description: `Life of a signed URL (${min}-${max}, default ${standardSeconds}).`,
          minimum: min,
          maximum: max,
        }),
    })
    // Without `signed` the value is unused, so it is not checked.
    .check(({ value, issues }) => {
      const { signed, expires_in_seconds: seconds } = value;
      if (!signed || (seconds >= min && seconds <= max)) return;
      const bound = seconds < min ? `at least ${min}` : `at most ${max}`;
      const message = `must be ${bound}; ${seconds} was given`;
      issues.push({ code: 'custom', path: ['expires_in_seconds'], input: value, message });
    }),
  output: z.looseObject({
    url: z.string(),
    port: z.int(),
    signed: z.boolean(),
    token: z.string().nullable(),
    header: z.string().nullable(),
    expires_at: z.string().nullable(),
  }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  forViewers: false,
  async handler({ sandbox: reference, port, signed, expires_in_seconds }, { services, caller }) {
    const seconds = signed ? expires_in_seconds : null;
    const { url, token, expiresAt } = await services.previews.preview(caller, reference, port, seconds);
    return {
      url,
      port,
      signed,
      token,
      header: token === null ? null : HEADER,
      expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    };
  },
});

export const createSshAccess = defineTool({
  name: 'Sandbox.CreateSshAccess',
  title: 'Get SSH access',
  description:
    'Makes a token to log in to a started sandbox by ssh, scp, sftp, rsync or an editor, and returns ' +
    'the command. access_token is secret: the password of username, or the user name alone. Open ' +
    'connections end when it expires.',
  input: z.strictObject({
    sandbox,
    expires_in_minutes: integerWithDefault('Minutes, 0 = never expires', limits.ssh.expiresInMinutes),
  }),
  output: z.looseObject({
    host: z.string(),
    port: z.int(),
    username: z.string(),
    access_token: z.string(),
    host_key: z.string(),
    expires_at: z.string().nullable(),
    command: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  async handler(parameters, { services, caller }) {
    const access = await services.sshAccess.create(caller, parameters.sandbox, {
      expiresInMinutes: parameters.expires_in_minutes,
    });
    const { host, port, accessToken } = access;
    return {
      host,
      port,
      username: access.username,
      access_token: accessToken,
      host_key: access.hostKey,
      expires_at: access.expiresAt === null ? null : new Date(access.expiresAt).toISOString(),
      command: `ssh -p ${port} ${accessToken}@${host}`,
    };
  },
});
