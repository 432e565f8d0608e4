/** The sandbox of the screen, for its tabs. */
import type { GetSandboxResult } from '@sandhaven/sdk';
import { createContext, use } from 'react';

/** With settings of sleep, which are there once they were set. */
type ShownSandbox = GetSandboxResult & { sleep_after_seconds?: number; wake?: boolean };

export const SandboxContext = createContext<ShownSandbox | null>(null);

export function useSandbox(): ShownSandbox {
  const sandbox = use(SandboxContext);
  if (!sandbox) throw new Error('There is no sandbox here.');
  return sandbox;
}
