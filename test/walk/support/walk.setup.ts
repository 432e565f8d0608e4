/** One service for the whole walk; each file of tests has users of its own there. */
import type { TestProject } from 'vitest/node';
import { startService } from '../../support/service.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    walkedService: { url: string; apiKey: string };
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const service = await startService();
  project.provide('walkedService', { url: service.url, apiKey: service.apiKey });
  return () => service.stop();
}
