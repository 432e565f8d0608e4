/** One service for the files of a project that only work with it. */
import type { TestProject } from 'vitest/node';
import { startService } from './service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    sharedService: { url: string; apiKey: string };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = await startService();
  project.provide('sharedService', { url: service.url, apiKey: service.apiKey });
  return () => service.stop();
}
