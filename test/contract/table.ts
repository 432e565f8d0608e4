/** The whole contract of the tools: `stated`, with the project's additions. */
import { documentAdditions } from './added/documents.ts';
import { executionAdditions } from './added/execution.ts';
import { fileAdditions } from './added/files.ts';
import { gitAdditions } from './added/git.ts';
import { sandboxAdditions } from './added/sandboxes.ts';
import type { Addition, Parameter, ToolContract } from './notation.ts';
import { access } from './stated/access.ts';
import { documents } from './stated/documents.ts';
import { execution } from './stated/execution.ts';
import { files } from './stated/files.ts';
import { git } from './stated/git.ts';
import { sandboxes } from './stated/sandboxes.ts';
import { snapshots } from './stated/snapshots.ts';

/** In the order of docs/contract.md. */
const stated = [...sandboxes, ...snapshots, ...access, ...files, ...execution, ...git, ...documents];

export const additions: readonly Addition[] = [
  ...sandboxAdditions,
  ...fileAdditions,
  ...executionAdditions,
  ...gitAdditions,
  ...documentAdditions,
];

export const contract: readonly ToolContract[] = stated.map((tool) =>
  additions
    .filter(({ name }) => name === tool.name)
    .reduce<ToolContract>((whole, addition) => merged(whole, addition, tool.name), tool),
);

/** Every parameter, with its tool. */
export const parameters: readonly [ToolContract, string, Parameter][] = contract.flatMap((tool) =>
  Object.entries(tool.parameters).map(([name, parameter]): [ToolContract, string, Parameter] => [
    tool,
    name,
    parameter,
  ]),
);

/** An addition adds, and changes nothing that is stated. */
function merged<Stated extends object>(stated: Stated, addition: object, place: string): Stated {
  const whole: Record<string, unknown> = Object.fromEntries(Object.entries(stated));
  for (const [key, value] of Object.entries(addition)) {
    const before = whole[key];
    if (before === undefined) whole[key] = value;
    else if (Array.isArray(before)) whole[key] = [...before, ...value];
    else if (typeof before === 'object') whole[key] = merged(before as object, value, `${place}.${key}`);
    else if (before !== value) throw new Error(`${place}.${key} is stated as ${before}.`);
  }
  return whole as Stated;
}
