/** Makes the disk that all tests on machines share, once for a run of them. */
import type { TestProject } from 'vitest/node';
import { makePayload } from './payload.ts';

declare module 'vitest' {
  interface ProvidedContext {
    machinePayload: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { disk, remove } = await makePayload();
  project.provide('machinePayload', disk);
  return remove;
}
