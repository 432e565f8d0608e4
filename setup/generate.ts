/**
 * `make generate`: writes the files generated from the catalogue of tools, and those that the agent has from the filter
 * of machines, from the bounds, and from the words of its faults. Run it after a change of any, and commit the result.
 * With "--at-set-up" only those that are not in the repository.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateToolReference } from '../docs/generate/tools.ts';
import { generateAgentFilter } from '../native/generate/filter.ts';
import { generateAgentGrace } from '../native/generate/grace.ts';
import { generateAgentResources } from '../native/generate/resources.ts';
import { generateSandboxHandle } from '../sdk/generate/sandbox-handle.ts';
import { generateSdk } from '../sdk/generate/sdk.ts';

/** Not in the repository: each set-up makes them. */
const atSetUp: Record<string, () => string> = {
  'sdk/src/generated.ts': () => generateSdk(),
  'sdk/src/sandbox-handle.ts': () => generateSandboxHandle(),
};

export const generated: Record<string, () => string> = {
  ...atSetUp,
  'docs/tools.md': generateToolReference,
  'native/filter/src/rules.rs': generateAgentFilter,
  'native/agent/src/init/grace.rs': generateAgentGrace,
  'native/agent/src/wire/resource.rs': generateAgentResources,
};

if (import.meta.main) {
  const meant = process.argv[2] === '--at-set-up' ? atSetUp : generated;
  for (const [file, generate] of Object.entries(meant)) {
    const path = join(import.meta.dirname, '..', file);
    const content = generate();
    if (existsSync(path) && readFileSync(path, 'utf8') === content) continue;
    // Renamed, so that a program beside it never reads a part.
    writeFileSync(`${path}.new`, content);
    renameSync(`${path}.new`, path);
    console.info(`wrote ${file}`);
  }
}
