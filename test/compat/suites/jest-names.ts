/** Names of Jest that the suite for TypeScript uses and Vitest has not; all others are the same in both. */
import { createRequire } from 'node:module';

Object.assign(globalThis, {
  // daytona.config.ts sets the same time.
  jest: { setTimeout() {} },
  require: createRequire(import.meta.url),
});
