/** E2B's clients as people install them, unmodified, against a real service: by names below a domain, with a certificate for all. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyInForm } from '../../../src/model/key-form.ts';
import { type MadeCertificate, makeCertificate } from '../../support/certificates.ts';
import { type Service, startService } from '../../support/service.ts';
import { pythonOf } from '../clients/installed.ts';
import { type Program, stepsOf } from '../daytona/programs.ts';

const DOMAIN = 'e2b.localhost';
const LIMIT_MS = 300_000;

const inNode = (name: string) => join(import.meta.dirname, 'node', name);

const programs: [name: string, fewestSteps: number, program: () => Program][] = [
  [
    'Node 2.51',
    22,
    () => ({
      file: process.execPath,
      args: ['--import', inNode('names.mjs'), inNode('program.mjs'), '2.51'],
    }),
  ],
  [
    'Python 2.63',
    8,
    () => ({ file: pythonOf('e2b-2.63'), args: ['-B', join(import.meta.dirname, 'python/program.py')] }),
  ],
];

let certificate: MadeCertificate;
let service: Service;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  certificate = makeCertificate([`DNS:*.${DOMAIN}`, 'IP:127.0.0.1'], false);
  const { certFile, keyFile } = certificate;
  service = await startService({
    flags: [
      ...['--compat', 'e2b', '--public-ports', 'yes', '--preview-domain', DOMAIN],
      ...['--tls-cert', certFile, '--tls-key', keyFile],
    ],
    env: { NODE_EXTRA_CA_CERTS: certFile },
  });
  const at = /"previews":"127\.0\.0\.1:(\d+)"/.exec(service.log())?.[1];
  const { PATH, HOME, TMPDIR, XDG_CACHE_HOME } = process.env;
  env = {
    ...{ PATH, HOME, TMPDIR, XDG_CACHE_HOME, E2B_DOMAIN: `${DOMAIN}:${at}` },
    ...{
      E2B_API_KEY: keyInForm(service.apiKey, 'e2b'),
      NODE_EXTRA_CA_CERTS: certFile,
      SSL_CERT_FILE: certFile,
    },
    PYTHONPATH: join(import.meta.dirname, 'python'),
  };
}, 120_000);

afterAll(async () => {
  await service?.stop();
  certificate?.remove();
});

describe('a client of E2B', () => {
  it.each(programs)(
    'carries out every group of its calls that is here: %s',
    async (_name, fewestSteps, program) => {
      const steps = await stepsOf(program(), env);
      expect(Object.keys(steps).length).toBeGreaterThanOrEqual(fewestSteps);
      expect(Object.fromEntries(Object.entries(steps).filter(([, outcome]) => outcome !== 'ok'))).toEqual({});
    },
    LIMIT_MS,
  );
});
