/** Loads the library of passkeys, which most services never use, with as little of it as can be in each turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { loadInTurns } from '../concurrency/in-portions.ts';
import type { PasskeyVerifier } from '../control/ports/index.ts';

/** The largest of the library's own dependencies, those that others need first. */
const PACKAGES = ['@peculiar/asn1-schema', '@peculiar/asn1-x509', '@peculiar/asn1-rsa', '@peculiar/x509'];

export async function loadPasskeyVerifier(): Promise<PasskeyVerifier> {
  await loadInTurns(import.meta.resolve('@simplewebauthn/server'), ['reflect-metadata', ...PACKAGES]);
  await import('@simplewebauthn/server/helpers');
  await nextTurn();
  await import('@simplewebauthn/server');
  await nextTurn();
  const { createPasskeyVerifier } = await import('./verifier.ts');
  return createPasskeyVerifier();
}
