/** A service that E2B's clients reach by names below a domain, with a certificate for all of them. */
import { join } from 'node:path';
import { keyInForm } from '../../../src/model/key-form.ts';
import { makeCertificate } from '../../support/certificates.ts';
import { startService } from '../../support/service.ts';

const DOMAIN = 'e2b.localhost';

export interface NamedService {
  /** Of the API, by its address. */
  url: string;
  /** Variables by which clients for Node and for Python find it: no name server knows its names. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/** @param flags More of them. */
export async function startNamedService(flags: readonly string[] = []): Promise<NamedService> {
  const certificate = makeCertificate([`DNS:*.${DOMAIN}`, 'IP:127.0.0.1'], false);
  const { certFile, keyFile } = certificate;
  const service = await startService({
    flags: [
      ...['--compat', 'e2b', '--public-ports', 'yes', '--preview-domain', DOMAIN],
      ...['--tls-cert', certFile, '--tls-key', keyFile],
      ...flags,
    ],
    env: { NODE_EXTRA_CA_CERTS: certFile },
  });
  const at = /"previews":"127\.0\.0\.1:(\d+)"/.exec(service.log())?.[1];
  const { PATH, HOME, TMPDIR, XDG_CACHE_HOME } = process.env;
  return {
    url: service.url,
    env: {
      ...{ PATH, HOME, TMPDIR, XDG_CACHE_HOME, E2B_DOMAIN: `${DOMAIN}:${at}` },
      E2B_API_KEY: keyInForm(service.apiKey, 'e2b'),
      ...{ NODE_EXTRA_CA_CERTS: certFile, SSL_CERT_FILE: certFile },
      NODE_OPTIONS: `--import ${join(import.meta.dirname, 'node/names.mjs')}`,
      PYTHONPATH: join(import.meta.dirname, 'python'),
    },
    async stop() {
      await service.stop();
      certificate.remove();
    },
  };
}
