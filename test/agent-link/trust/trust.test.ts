/** Programs inside believe servers that the sandbox's authority has signed, without a flag, and all others as before. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgentLink } from '../../../src/agent-link/agent-link.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { certificate, earlier, HOST, type OwnServer, startOwnServer } from './own-server.ts';

const BUNDLE = '/etc/sandhaven/ca-bundle.pem';
const CERTIFICATE = '/etc/sandhaven/authority.pem';
const SYSTEM = '/etc/ssl/certs/ca-certificates.crt';

/** As processes of a sandbox with secrets have them. */
const variables = {
  ...Object.fromEntries(
    [
      ...['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO', 'PIP_CERT'],
      ...['CARGO_HTTP_CAINFO', 'AWS_CA_BUNDLE', 'NPM_CONFIG_CAFILE'],
    ].map((name) => [name, BUNDLE]),
  ),
  NODE_EXTRA_CA_CERTS: CERTIFICATE,
  DENO_CERT: CERTIFICATE,
};

let server: OwnServer;
let url: string;

beforeAll(async () => {
  server = await startOwnServer((request, response) => {
    const path = request.url ?? '';
    if (path.includes('/info/refs')) response.end(`${'1'.repeat(40)}\trefs/heads/main\n`);
    else response.end(path.endsWith('/HEAD') ? 'ref: refs/heads/main\n' : '{"answer":"ok"}');
  });
  url = server.url;
});

afterAll(() => server?.close());

/** Clients, each of which prints what the server answers. */
const clients: Record<string, (url: string) => string> = {
  curl: (to) => `curl -sS ${to}/`,
  wget: (to) => `wget -qO- ${to}/`,
  openssl: (to) =>
    `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -verify_return_error -verify_hostname ${HOST} ` +
    `-connect ${to.replace('https://', '')} 2>&1`,
  'git ls-remote': (to) => `git ls-remote ${to}/repository && echo '"answer":"ok"'`,
  'Python’s urllib': (to) =>
    `python3 -c "import urllib.request as r; print(r.urlopen('${to}/').read().decode())"`,
  'Python’s requests': (to) => `python3 -c "import requests; print(requests.get('${to}/').text)"`,
  'Node’s fetch': (to) => `node -e "fetch('${to}/').then((r) => r.text()).then(console.log)"`,
  'Node’s https': (to) => `node -e "require('https').get('${to}/', (r) => r.pipe(process.stdout))"`,
  npm: (to) => `npm ping --json --registry ${to}/ && echo '"answer":"ok"'`,
};

/** They know no variable, or need none. */
const bySystem = ['curl', 'wget', 'openssl', 'git ls-remote', 'Python’s urllib'];

describe('a sandbox that trusts its authority', () => {
  let sandbox: ScratchSandbox;

  beforeAll(async () => {
    sandbox = await startScratchSandbox();
    await sandbox.sh(`echo '127.0.0.1 ${HOST}' >> /etc/hosts`);
    await sandbox.agent.trust(sandbox.id, certificate);
  });

  afterAll(() => sandbox?.[Symbol.asyncDispose]());

  const run = (command: string, env: Record<string, string>) =>
    sandbox.agent.exec(sandbox.id, {
      ...{ argv: ['bash', '-c', command], cwd: '.', timeoutMs: 20_000 },
      env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/bin', HOME: '/root', ...env },
    });

  it.each(Object.entries(clients))('is believed by %s, with the variables of secrets', async (_, command) => {
    expect((await run(command(url), variables)).output).toContain('"answer":"ok"');
  });

  it.each(bySystem)('is believed by %s without any variable', async (name) => {
    expect((await run(clients[name]?.(url) ?? '', {})).output).toContain('"answer":"ok"');
  });

  it('does not believe a server for another name', async () => {
    await run(`echo '127.0.0.1 other.example.test' >> /etc/hosts`, {});
    const { output, exitCode } = await run(`curl -sS ${url.replace(HOST, 'other.example.test')}`, variables);
    expect(output).toContain('no alternative certificate subject name matches');
    expect(exitCode).toBe(60);
  });

  it.each([
    [
      'curl that pins a key',
      (to: string) => `curl -sS --pinnedpubkey sha256//${'A'.repeat(43)}= ${to}/`,
      'curl: (90) SSL: public key does not match pinned public key',
    ],
    [
      'Node with a list of its own',
      (to: string) =>
        `node -e "require('https').get('${to}/', { ca: require('tls').rootCertificates }).on('error', (error) => console.log(error.code))"`,
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
  ])('is not believed by %s, which shows an error of its own', async (_, command, error) => {
    const { output } = await run(command(url), variables);
    expect(output).toContain(error);
    expect(output).not.toContain('answer');
  });

  it('trusts who the image trusts as well, and has files that everybody may read', async () => {
    const { output } = await run(
      `grep -c BEGIN ${SYSTEM} ${BUNDLE} && stat -c '%a %U %n' /etc/sandhaven ${BUNDLE} ${CERTIFICATE} ${SYSTEM}`,
      {},
    );
    const [system, bundle, ...files] = output.trim().split('\n');
    expect(Number(system?.split(':')[1])).toBeGreaterThan(100);
    expect(bundle?.split(':')[1]).toBe(system?.split(':')[1]);
    expect(files).toEqual([
      '755 root /etc/sandhaven',
      ...[BUNDLE, CERTIFICATE, SYSTEM].map((file) => `644 root ${file}`),
    ]);
  });

  it('has nothing written anew when it is told again', async () => {
    const look = async () =>
      (await run(`stat -c '%n %i %y' /etc/ssl/certs ${SYSTEM} /etc/sandhaven/*`, {})).output;
    const before = await look();
    await sandbox.agent.trust(sandbox.id, certificate);
    expect(await look()).toBe(before);
  });

  it('goes on when the system makes its bundle anew', async () => {
    expect((await run('update-ca-certificates 2>&1', {})).exitCode).toBe(0);
    expect(await textOf(sandbox, SYSTEM)).toContain(certificate);
    await sandbox.agent.trust(sandbox.id, certificate);
    expect(count(await textOf(sandbox, SYSTEM), certificate)).toBe(1);
    expect((await run(clients['openssl']?.(url) ?? '', {})).output).toContain('"answer":"ok"');
  });
});

describe('an image', () => {
  it('that had the authority of another sandbox, as a snapshot has, trusts its own alone', async () => {
    await using sandbox = await startScratchSandbox();
    await sandbox.agent.trust(sandbox.id, earlier);
    await sandbox.agent.trust(sandbox.id, certificate);
    for (const file of [SYSTEM, BUNDLE]) {
      const text = await textOf(sandbox, file);
      expect([count(text, earlier), count(text, certificate)]).toEqual([0, 1]);
    }
    expect(await textOf(sandbox, CERTIFICATE)).toBe(certificate);
    expect(await textOf(sandbox, '/usr/local/share/ca-certificates/sandhaven.crt')).toBe(certificate);
  });

  it('without any bundle gets one of the certificate alone', async () => {
    await using sandbox = await startScratchSandbox();
    await sandbox.sh('rm -rf /etc/ssl /usr/local/share/ca-certificates');
    await sandbox.agent.trust(sandbox.id, certificate);
    expect(await textOf(sandbox, BUNDLE)).toBe(certificate);
    expect((await sandbox.sh('ls /etc/ssl')).exitCode).not.toBe(0);
  });

  it('without any bundle gets the certificates of the host with it', async () => {
    await using sandbox = await startScratchSandbox();
    await sandbox.sh(`rm -rf /etc/ssl`);
    const roots = earlier.trimEnd();
    const agent = createAgentLink({ openChannel: sandbox.openChannel, roots });
    await agent.trust(sandbox.id, certificate);
    await agent.trust(sandbox.id, certificate);
    expect(await textOf(sandbox, BUNDLE)).toBe(`${roots}\n${certificate}`);
    const large = createAgentLink({ openChannel: sandbox.openChannel, roots: 'x'.repeat(1024 ** 2 + 1) });
    await expect(large.trust(sandbox.id, certificate)).rejects.toMatchObject({
      message: 'The certificates have over 1 MiB.',
    });
  });

  it('of another distribution has its own places extended, through links', async () => {
    await using sandbox = await startScratchSandbox();
    await sandbox.sh(`mkdir -p /etc/pki/tls/certs /etc/pki/ca-trust/extracted /etc/pki/ca-trust/source/anchors
      mv ${SYSTEM} /etc/pki/ca-trust/extracted/bundle.pem && rm -rf /etc/ssl
      ln -s /etc/pki/ca-trust/extracted/bundle.pem /etc/pki/tls/certs/ca-bundle.crt
      chmod 444 /etc/pki/ca-trust/extracted/bundle.pem`);
    await sandbox.agent.trust(sandbox.id, certificate);
    for (const file of ['/etc/pki/ca-trust/extracted/bundle.pem', BUNDLE]) {
      expect(count(await textOf(sandbox, file), certificate)).toBe(1);
    }
    expect(await textOf(sandbox, '/etc/pki/ca-trust/source/anchors/sandhaven.crt')).toBe(certificate);
    const { output } = await sandbox.sh(
      'stat -c %a /etc/pki/ca-trust/extracted/bundle.pem; readlink /etc/pki/tls/certs/ca-bundle.crt',
    );
    expect(output).toBe('444\n/etc/pki/ca-trust/extracted/bundle.pem\n');
  });

  it.each([
    ['a pipe', `mkfifo ${SYSTEM}`],
    ['a folder', `mkdir ${SYSTEM}`],
    ['a link to the agent’s memory', `ln -s /proc/1/mem ${SYSTEM}`],
    ['a device', `mknod ${SYSTEM} c 1 5`],
    ['a file without an end', `truncate -s 1T ${SYSTEM}`],
    ['a link to itself', `ln -s ${SYSTEM} ${SYSTEM}`],
  ])('whose bundle is %s keeps that, and the rest works', async (_, make) => {
    await using sandbox = await startScratchSandbox();
    await sandbox.sh(`rm ${SYSTEM}; ${make}`);
    const kind = async () => (await sandbox.sh(`stat -c '%F %s %N' ${SYSTEM}`)).output;
    const before = await kind();
    await sandbox.agent.trust(sandbox.id, certificate);
    expect(await kind()).toBe(before);
    expect(await textOf(sandbox, BUNDLE)).toBe(certificate);
  });

  it('in which the own files cannot be written says so', async () => {
    await using sandbox = await startScratchSandbox();
    await sandbox.sh(`mkdir -p ${BUNDLE}`);
    await expect(sandbox.agent.trust(sandbox.id, certificate)).rejects.toMatchObject({
      message: `'${BUNDLE}' is a folder.`,
    });
  });
});

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

async function textOf(sandbox: ScratchSandbox, path: string): Promise<string> {
  return (await sandbox.sh(`cat ${path}`)).stdout;
}
