/** Sandbox.CreateSshAccess */
import { z } from 'zod';
import { limits } from '../../model/limits.ts';
import { defineTool } from '../base/tool.ts';
import { sandbox } from '../parameters/sandbox.ts';
import { integerWithDefault } from '../parameters/scalars.ts';

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
