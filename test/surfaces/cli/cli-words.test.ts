/** What the command line says when the mistake is its user's. */
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { answerPlainHttp } from '../../../src/tls/serving.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { type Harness, startHttp } from '../http/http-harness.ts';
import { cliFor } from './cli-harness.ts';

let close: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of close) await end();
  close = [];
});

async function service(): Promise<Harness> {
  const http = await startHttp();
  close.push(() => http.close());
  return http;
}

describe('the exit status of a tool that runs a command', () => {
  it('becomes the status of the call with --exit-code, and only then', async () => {
    const { url } = await service();
    const cli = cliFor(url);
    await cli(['call', 'Sandbox.CreateSandbox', '--name', 'demo']);
    const argv = ['call', 'Sandbox.RunCommand', '--sandbox', 'demo', '--command', 'exit 7'];
    expect((await cli(argv)).code).toBe(0);
    expect((await cli([...argv, '--exit-code'])).code).toBe(7);
  });

  it('is no flag of other tools', async () => {
    const { url } = await service();
    const { code, stderr } = await cliFor(url)(['call', 'Sandbox.ListSandboxes', '--exit-code']);
    expect(code).toBe(2);
    expect(stderr).toContain('There is no parameter "exit_code"');
  });
});

describe('nothing to run', () => {
  it.each([[['run']], [['run', '-']], [['run', '--file', '-']]])(
    'is refused: %j </dev/null',
    async (argv) => {
      const { url } = await service();
      const { code, stderr } = await cliFor(url)(argv, { stdin: '' });
      expect(code).toBe(2);
      expect(stderr).toContain('There is nothing to run: standard input is empty.');
      expect(stderr).toContain('Give code, --file FILE, or a command after --.');
    },
  );
});

describe('a service behind the other protocol', () => {
  it('TLS on the port of an http URL is named, with the URL to use', async () => {
    const made = makeCertificate(['IP:127.0.0.1']);
    const server = createHttps({ cert: made.pem(), key: made.key() });
    answerPlainHttp(server);
    const port = await listening(server, () => made.remove());
    const { code, stderr } = await cliFor(`http://127.0.0.1:${port}`)(['ls']);
    expect(code).toBe(7);
    expect(stderr).toContain('the port speaks TLS');
    expect(stderr).toContain(`Hint: Use https://127.0.0.1:${port}.`);
  });

  it('plain HTTP on the port of an https URL is named, with the URL to use', async () => {
    const port = await listening(createHttp((_request, response) => response.end('hello')));
    const { code, stderr } = await cliFor(`https://127.0.0.1:${port}`)(['ls']);
    expect(code).toBe(7);
    expect(stderr).toContain('the port speaks plain HTTP');
    expect(stderr).toContain(`Hint: Use http://127.0.0.1:${port}.`);
  });

  it('a certificate that nobody vouches for is named', async () => {
    const made = makeCertificate(['IP:127.0.0.1']);
    const server = createHttps({ cert: made.pem(), key: made.key() });
    const port = await listening(server, () => made.remove());
    const { stderr } = await cliFor(`https://127.0.0.1:${port}`)(['ls']);
    expect(stderr).toContain('its certificate is not trusted');
    expect(stderr).toContain('NODE_EXTRA_CA_CERTS');
  });
});

it('a command that does not exist is not taken for any of two letters', async () => {
  const commands = { up: { summary: 'start', run: async () => 0 } };
  const { code, stderr } = await cliFor('http://127.0.0.1:1')(['xp', 'a', 'b'], { commands });
  expect(code).toBe(2);
  expect(stderr).toContain("There is no command 'xp'.");
  expect(stderr).not.toContain('Did you mean');
});

async function listening(server: ReturnType<typeof createServer>, after = () => {}): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close.push(() => new Promise((resolve) => server.close(resolve)), after);
  return (server.address() as AddressInfo).port;
}
