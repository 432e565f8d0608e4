/** An installation's certificates, and addresses of the loopback for its agents. */
import { randomInt } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CertifiedKey,
  certifySandbox,
  certifyService,
  makeAuthority,
} from '../../../src/agent-link/authority.ts';

export const INSTALLATION = 'abc123';
export const AGENT_PORT = 7_400;

export interface Installation {
  authority: CertifiedKey;
  service: CertifiedKey;
}

export function newInstallation(name = INSTALLATION, nowMs = Date.now()): Installation {
  const authority = makeAuthority(name, nowMs);
  return { authority, service: certifyService(authority, name, nowMs) };
}

/** All of 127.0.0.0/8 is this machine: one of its own for each agent. */
export function ownAddress(): string {
  return `127.${randomInt(20, 250)}.${randomInt(1, 250)}.${randomInt(1, 250)}`;
}

/** Writes an agent's folder as Kubernetes lays out a Secret: links into a folder beside them. */
export function writeSecret(
  folder: string,
  { authority }: Installation,
  id: string,
  generation: number,
): void {
  const own = certifySandbox(authority, id, generation, Date.now());
  const files = { 'tls.key': own.key, 'tls.crt': own.certificate, 'ca.crt': authority.certificate };
  mkdirSync(join(folder, '..2026_11_23'), { recursive: true });
  symlinkSync('..2026_11_23', join(folder, '..data'));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, '..data', name), content);
    symlinkSync(join('..data', name), join(folder, name));
  }
}
