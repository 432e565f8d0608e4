/** Certificate, chain and key from files, validated before any use. */
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
  /** Returns true when clients accept it for that host, or for every name in place of its `*`. */
  covers(host: string): boolean;
}

/** Permission bits of other users: anyone who reads the key could impersonate the service. */
const FOR_OTHERS = 0o007;

/** Rejects unusable files with `failed_precondition` that names the flag and never shows content of the key's file. */
export async function readCertificate({ certFile, keyFile }: CertificateFiles): Promise<Certificate> {
  const chain = await read('--tls-cert', certFile, false);
  const key = await read('--tls-key', keyFile, true);
  let own: X509Certificate;
  try {
    own = new X509Certificate(chain);
  } catch (error) {
    throw unusable('--tls-cert', `${certFile} contains no certificate.`, 'It must be PEM.', error);
  }
  try {
    createSecureContext({ cert: chain, key });
  } catch (error) {
    const detail = `The key in ${keyFile} does not match the certificate in ${certFile}, or has a passphrase.`;
    const hint =
      "Give the private key of the certificate, as PEM without a passphrase; the server's own certificate comes first in its file.";
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

/** Returns a mark that changes when a file is replaced, also behind a link; null when a file is missing. */
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
      throw unusable(
        flag,
        `${file} is not a regular file of at most ${limits.tls.fileBytes} bytes.`,
        'It must be PEM.',
      );
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
