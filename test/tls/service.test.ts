/** A service with a certificate of its own: everything that it carries, by TLS. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTunnel } from '../../src/surfaces/cli/tunnel-client.ts';
import { type MadeCertificate, makeCertificate } from '../support/certificates.ts';
import { askSecure, rest, type Secure } from '../support/secure.ts';
import { bin, call, must, type Service, startService } from '../support/service.ts';
import {
  carriesCalls,
  carriesLargeBodies,
  carriesMcpStreams,
  carriesPreviews,
  serveSample,
} from './traffic.ts';

const ordinary = getCACertificates('default');
let certificate: MadeCertificate;
let service: Service;
let sandbox: string;
let api: Secure;

beforeAll(async () => {
  certificate = makeCertificate(['IP:127.0.0.1', 'DNS:*.previews.test']);
  setDefaultCACertificates([...ordinary, certificate.pem()]);
  service = await startService({
    flags: [
      ...['--tls-cert', certificate.certFile, '--tls-key', certificate.keyFile],
      ...['--preview-domain', 'previews.test', '--prove'],
      ...['--region', 'id=eu-central,name=Frankfurt,city=Frankfurt,country=DE;id=us'],
    ],
  });
  api = { port: Number(new URL(service.url).port), ca: certificate.pem() };
  sandbox = await serveSample(service);
}, 120_000);

afterAll(async () => {
  setDefaultCACertificates(ordinary);
  await service?.stop();
  certificate?.remove();
});

describe('by TLS', () => {
  it('[WIRE-UP-02] its address is https, and calls, large bodies and MCP streams come through', async () => {
    expect(service.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    await carriesCalls(api, service);
    await carriesLargeBodies(api, service, sandbox);
    await carriesMcpStreams(api, service, sandbox);
  }, 120_000);

  it('[SBX-PREVIEW-04] [WIRE-PREVIEW-04] previews have https URLs, and all that a preview carries', async () => {
    const { url } = await must(service, 'GetPortPreviewUrl', { sandbox, port: 3000, signed: true });
    const { protocol, hostname, port } = new URL(String(url));
    expect(protocol).toBe('https:');
    await carriesPreviews({ ca: api.ca, host: hostname, port: Number(port) }, '127.0.0.1');
  }, 60_000);

  it('a tunnel keeps its directions apart, and ends with its sandbox', async () => {
    await must(service, 'RunCommand', {
      sandbox,
      command:
        "nohup python3 -c \"import socket; s=socket.create_server(('127.0.0.1',4100))\nwhile True:\n c,_=s.accept(); d=b''\n while x:=c.recv(9): d+=x\n c.sendall(d[::-1]); c.close()\" >/dev/null 2>&1 & sleep 0.5",
    });
    const open = async () => {
      const outcome = await openTunnel(service, { sandbox, port: 4100 }, AbortSignal.timeout(10_000));
      if (!outcome.connection) throw new Error(outcome.problem.detail);
      return outcome.connection;
    };
    const whole = await open();
    const said = rest(whole);
    whole.end('abc');
    expect(await said).toEqual({ text: 'cba', error: null });

    const cut = await open();
    const ended = once(cut, 'end');
    cut.resume();
    await must(service, 'StopSandbox', { sandbox });
    await ended;
    const broken = once(cut, 'error');
    cut.write('more');
    expect((await broken)[0]).toMatchObject({ code: expect.stringMatching(/^(?:EPIPE|ECONNRESET)$/) });
    await must(service, 'StartSandbox', { sandbox });
  }, 60_000);

  it('[WIRE-CLI-03] the command line believes what NODE_EXTRA_CA_CERTS names, and nothing else', async () => {
    const run = (env: Record<string, string>) =>
      promisify(execFile)(bin, ['call', 'Sandbox.WhoAmI', '--json'], {
        env: { ...process.env, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: service.apiKey, ...env },
      });
    const { stdout } = await run({ NODE_EXTRA_CA_CERTS: certificate.certFile });
    expect(JSON.parse(stdout)).toMatchObject({ name: 'admin' });
    await expect(run({ NODE_EXTRA_CA_CERTS: '' })).rejects.toMatchObject({ code: 7 });
  });

  it('SIGHUP reads a new certificate, and the service goes on', async () => {
    certificate.renew();
    process.kill(service.pid, 'SIGHUP');
    setDefaultCACertificates([...ordinary, certificate.pem()]);
    const renewed = { ...api, ca: certificate.pem() };
    await expect
      .poll(() => askSecure(renewed, '/healthz').then(({ status }) => status, String), { timeout: 10_000 })
      .toBe(200);
  });
});

describe('a region of its own', () => {
  it('[SBX-REGION-01] [WIRE-IDENT-01] is listed first, and is where sandboxes and snapshots are', async () => {
    const { regions } = await must(service, 'ListRegions');
    expect(regions).toEqual([
      { id: 'eu-central', name: 'Frankfurt', location: { country: 'DE', city: 'Frankfurt' } },
      { id: 'us', name: 'us', location: { country: '', city: '' } },
    ]);
    expect(await must(service, 'GetSandbox', { sandbox })).toMatchObject({ region_id: 'eu-central' });
    const base = await must(service, 'GetSnapshot', { snapshot: 'base' });
    expect(base).toMatchObject({ region_id: 'eu-central' });
  });

  it('[SBX-SNAP-04] is the only one that this service makes snapshots in', async () => {
    const snapshot = (region_id: string) =>
      call(service, 'CreateSnapshot', { name: 'x', image: 'base', region_id });
    const detail = expect.stringContaining("'eu-central'");
    const refusal = { code: 'invalid_argument', parameter: 'region_id', detail };
    for (const region of ['us', 'moon']) {
      expect(await snapshot(region)).toMatchObject({ status: 400, body: refusal });
    }
    expect(await snapshot('eu-central')).toMatchObject({ status: 200, body: { region_id: 'eu-central' } });
  });
});
