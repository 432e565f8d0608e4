/** The sandbox of the screen, for its tabs. */
import type { GetSandboxResult } from '@sandhaven/sdk';
import { createContext, use } from 'react';

export const SandboxContext = createContext<GetSandboxResult | null>(null);

export function useSandbox(): GetSandboxResult {
  const sandbox = use(SandboxContext);
  if (!sandbox) throw new Error('There is no sandbox here.');
  return sandbox;
}
