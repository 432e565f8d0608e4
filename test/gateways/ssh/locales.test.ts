/** Locales of the client's own machine, which OpenSSH sends along. Debian's and Fedora's clients do so by default. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedService, sharedService } from '../../support/shared-service.ts';
import { type Access, accessTo, eventually, inside, makeSandbox, type Ran, SshClient } from './client.ts';

let service: SharedService;
let sandbox: string;
let client: SshClient;
let access: Access;

beforeAll(async () => {
  service = await sharedService();
  client = new SshClient();
  sandbox = await makeSandbox(service);
  access = await accessTo(service, sandbox);
  await inside(service, sandbox, 'touch /workspace/Übersicht');
}, 120_000);

afterAll(async () => {
  client?.[Symbol.dispose]();
  await service?.stop();
}, 60_000);

/** A client whose own environment has these, as a desktop sets them. */
function ssh(env: Record<string, string>, command: string[], flags: string[] = []): Promise<Ran> {
  const sent = ['-o', 'SendEnv=LANG LC_*'];
  return client.ssh(access, command, {
    flags: [...flags, ...sent],
    env: { LANG: '', LC_ALL: '', ...env },
    input: '',
  });
}

const LOOK = 'locale charmap; ls; perl -e "print 1"; echo " $LANG $LC_ALL"';

describe('a locale of the client that the sandbox lacks', () => {
  it.each([{ LANG: 'xx_YY' }, { LC_ALL: 'de_DE.UTF-8', LANG: 'xx_YY' }, { LANG: 'tr_TR.UTF-8', LC_ALL: '' }])(
    'is left out for a command: $LANG $LC_ALL',
    async (env) => {
      const { stdout, stderr } = await ssh(env, [LOOK]);
      expect(stderr).toBe('');
      expect(stdout.toString()).toBe('UTF-8\nÜbersicht\n1 C.UTF-8 \n');
    },
  );

  it('is left out for a login shell on a terminal, whose names of files stay legible', async () => {
    const child = client.start('ssh', client.arguments(access, ['-tt', '-o', 'SendEnv=LANG LC_*'], []), {
      env: { LC_ALL: 'de_DE.UTF-8', LANG: 'xx_YY' },
    });
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    child.stdin?.write(`${LOOK}; exit\n`);
    await new Promise((resolve) => child.once('close', resolve));
    expect(said).toMatch(/UTF-8\r\nÜbersicht\r\n1 C\.UTF-8 \r\n/);
    expect(said).not.toMatch(/warning/i);
  });

  it('does not keep a file from sftp, by a name that is not ASCII', async () => {
    const batch = ['-b', '-', ...client.options(access, ['-o', 'SendEnv=LANG LC_*', '-P', `${access.port}`])];
    const ran = await client.run('sftp', [...batch, `${access.access_token}@${access.host}`], {
      env: { LC_ALL: 'de_DE.UTF-8', LANG: 'xx_YY' },
      input: 'rename Übersicht Ärger\nrename Ärger Übersicht\nls\n',
    });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(await inside(service, sandbox, 'ls /workspace')).toBe('Übersicht\n');
  });
});

describe('a locale of the client that the sandbox has', () => {
  it('stays, however it is spelled; so does each variable beside a missing one', async () => {
    const env = { LANG: 'en_US.utf8', LC_TIME: 'C', LC_NUMERIC: 'de_DE', LC_TEST: 'xx_YY' };
    const { stdout, stderr } = await ssh(env, [
      'echo "$LANG $LC_TIME $(printenv LC_NUMERIC || echo none) $LC_TEST"; locale charmap; perl -e "print 1"',
    ]);
    expect(stderr).toBe('');
    expect(stdout.toString()).toBe('en_US.utf8 C none xx_YY\nUTF-8\n1');
  });

  it('stays where the image has no program that could be asked', async () => {
    await inside(service, sandbox, 'mv /usr/bin/locale /usr/bin/locale-away');
    try {
      const { stdout } = await ssh({ LANG: 'xx_YY' }, ['echo "$LANG"']);
      expect(stdout.toString()).toBe('xx_YY\n');
    } finally {
      await inside(service, sandbox, 'mv /usr/bin/locale-away /usr/bin/locale');
    }
  });

  it('stays where the program that is asked does not answer, and goes on being asked no longer', async () => {
    const asked = '/usr/local/bin/locale';
    await inside(service, sandbox, `printf '#!/bin/sh\\nexec sleep 1234\\n' >${asked} && chmod +x ${asked}`);
    try {
      const { stdout } = await ssh({ LANG: 'xx_YY' }, ['echo "$LANG"']);
      expect(stdout.toString()).toBe('xx_YY\n');
      await eventually('it has ended', async () => (await inside(service, sandbox, 'pgrep -x sleep')) === '');
    } finally {
      await inside(service, sandbox, `rm ${asked}`);
    }
  });
});
