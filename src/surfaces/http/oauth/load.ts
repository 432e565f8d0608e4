/** Loads the library of OAuth, which most services never use, with as little of it as can be in each turn. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { loadInTurns } from '../../../concurrency/load-in-turns.ts';
import type { createProvider } from './provider.ts';

/** The packages that the library needs, and half of its own code. */
const PARTS = ['koa', 'jose', 'oidc-provider/lib/actions/index.js'];

export async function loadProvider(): Promise<typeof createProvider> {
  await loadInTurns(import.meta.resolve('oidc-provider'), PARTS);
  await import('oidc-provider');
  await nextTurn();
  return (await import('./provider.ts')).createProvider;
}
