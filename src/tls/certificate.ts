/** A certificate with its chain and its key, as files: read, and judged before anything is served with them. */
import { X509Certificate } from 'node:crypto';
import { open } from 'node:fs/promises';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { SandhavenError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

export interface Certificate {
  /** PEM; the server's own certificate first. */
  chain: string;
  key: string;
  /** `DNS:…` and `IP Address:…`. */
  names: string[];
  validFrom: number;
  validTo: number;
  /** Whether clients take it for that host, or for every name in the place of its `*`. */
  covers(host: string): boolean;
}

/** Anybody of the machine could be the service, with a key that everybody can read. */
const FOR_OTHERS = 0o007;

/** Fails with `failed_precondition` that names the flag and never says what the key's file holds. */
export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const chain = await read('--tls-cert', certFile, false);
  const key = await read('--tls-key', keyFile, true);
  let own: X509Certificate;
  try {
    own = new X509Certificate(chain);
  } catch (error) {
    throw unusable('--tls-cert', `${certFile} holds no certificate.`, 'It must be PEM.', error);
  }
  try {
    createSecureContext({ cert: chain, key });
  } catch (error) {
    const detail = `The key in ${keyFile} is not that of the certificate in ${certFile}, or has a passphrase.`;
    const hint =
      "Give the private key that the certificate was made for, as PEM without a passphrase; in the certificate's file the server's own one comes first.";
    throw unusable('--tls-key', detail, hint, error);
  }
  return {
    chain,
    key,
    names: own.subjectAltName?.split(', ') ?? [],
    validFrom: own.validFromDate.getTime(),
    validTo: own.validToDate.getTime(),
    covers: (host) => {
      const name = host.replace('*', 'any');
      return own.checkHost(name) !== undefined || (isIP(name) !== 0 && own.checkIP(name) !== undefined);
    },
  };
}

/** What changes when a file is replaced, also behind a link. Null where there is none. */
export async function fingerprint({ certFile, keyFile }: CertificateFiles): Promise<string | null> {
  const marks: string[] = [];
  for (const file of [certFile, keyFile]) {
    const handle = await open(file).catch(() => null);
    if (!handle) return null;
    const { dev, ino, size, mtimeMs, mode } = await handle.stat().finally(() => handle.close());
    marks.push([dev, ino, size, mtimeMs, mode].join(' '));
  }
  return marks.join(', ');
}

async function read(flag: string, file: string, secret: boolean): Promise<string> {
  const handle = await open(file).catch((error: unknown) => {
    throw unusable(flag, `${file} cannot be read.`, `Give the path of a file with ${flag}.`, error);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile() || stat.size > limits.tls.fileBytes) {
      throw unusable(flag, `${file} is no file of at most ${limits.tls.fileBytes} bytes.`, 'It must be PEM.');
    }
    if (secret && (stat.mode & FOR_OTHERS) !== 0) {
      throw unusable(flag, `${file} is open to every user of this machine.`, `Run chmod o= ${file}.`);
    }
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function unusable(flag: string, detail: string, hint: string, cause?: unknown): SandhavenError {
  return new SandhavenError('failed_precondition', detail, { parameter: flag, hint }, cause);
}
