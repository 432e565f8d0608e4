/**
 * `make generate`: writes the files generated from the catalogue of tools, and those that the agent has from the filter
 * of machines, from the bounds, and from the words of its faults. Run it after a change of any, and commit the result.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generateToolReference } from '../docs/generate/tools.ts';
import { generateAgentFilter } from '../native/generate/filter.ts';
import { generateAgentGrace } from '../native/generate/grace.ts';
import { generateAgentResources } from '../native/generate/resources.ts';
import { generateSandboxHandle } from '../sdk/generate/sandbox-handle.ts';
import { generateSdk } from '../sdk/generate/sdk.ts';

export const generated: Record<string, () => string> = {
  'sdk/src/generated.ts': () => generateSdk(),
  'sdk/src/sandbox-handle.ts': () => generateSandboxHandle(),
  'docs/tools.md': generateToolReference,
  'native/filter/src/rules.rs': generateAgentFilter,
  'native/agent/src/init/grace.rs': generateAgentGrace,
  'native/agent/src/wire/resource.rs': generateAgentResources,
};

if (import.meta.main) {
  for (const [file, generate] of Object.entries(generated)) {
    const path = join(import.meta.dirname, '..', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, generate());
    console.info(`wrote ${file}`);
  }
}
