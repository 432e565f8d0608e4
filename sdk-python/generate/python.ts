/** Everything of the Python package that is made when it is built: from the catalogue, from the client for asyncio, from the project. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Described, describe } from '../../sdk/generate/described.ts';
import type { Tool } from '../../src/catalog/base/tool.ts';
import { allTools } from '../../src/catalog/index.ts';
import { generateClient, withMethodNames } from './client.ts';
import { generateErrors } from './errors.ts';
import { generateHandle } from './handle.ts';
import { toSync } from './sync.ts';
import { literal, snake } from './text.ts';
import { PythonTypes } from './types.ts';

const home = join(import.meta.dirname, '..', '..');
const sources = join(home, 'sdk-python', 'src', 'sandhaven');

/** Differ in more than words between a thread that waits and asyncio. */
const writtenTwice = ['__init__.py', 'clock.py', 'content.py'];

/** Files below sdk-python, with what is to be in them. */
export const generatedPython: Record<string, () => string> = {
  ...fromCatalogue(() => generatePython()),
  LICENSE: () => readFileSync(join(home, 'LICENSE'), 'utf8'),
  'src/sandhaven/_generated/errors.py': generateErrors,
  'src/sandhaven/_generated/version.py': generateVersion,
  ...Object.fromEntries(
    globSync('_async/*.py', { cwd: sources })
      .map((file) => basename(file))
      .filter((file) => !writtenTwice.includes(file))
      .map((file) => [`src/sandhaven/_sync/${file}`, () => syncOf(file)]),
  ),
};

interface Generated {
  types: string;
  facts: string;
  async_client: string;
  async_handle: string;
  client: string;
  handle: string;
}

/** @param catalogue All tools; a test may pass others. */
export function generatePython(catalogue: readonly Tool[] = allTools): Generated {
  const described = catalogue.map(describe);
  const names = new PythonTypes();
  for (const { typeName, output } of described) names.declare(`${typeName}Result`, output);
  const client = generateClient(described, names);
  const handle = withMethodNames(generateHandle(described, names), described);
  return {
    types: typesModule(names),
    facts: factsModule(described),
    async_client: client,
    async_handle: handle,
    client: toSync(client, 'async_client.py'),
    handle: toSync(handle, 'async_handle.py'),
  };
}

function fromCatalogue(generate: () => Generated): Record<string, () => string> {
  const parts: (keyof Generated)[] = ['types', 'facts', 'async_client', 'async_handle', 'client', 'handle'];
  return Object.fromEntries(
    parts.map((part) => [`src/sandhaven/_generated/${part}.py`, () => generate()[part]]),
  );
}

function typesModule(names: PythonTypes): string {
  return `"""Results of tools. Generated from the service's catalogue."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

__all__ = [
${names.names.map((name) => `    "${name}",\n`).join('')}]


${names.declarations.join('\n\n\n')}
`;
}

function factsModule(described: Described[]): string {
  const rows = described.map(({ tool, typeName }) => {
    const { readOnlyHint, idempotentHint } = tool.annotations;
    const values = [
      `"${tool.name}"`,
      `repeatable=${literal(readOnlyHint || idempotentHint)}`,
      `long=${literal(tool.long ?? false)}`,
      `idempotency_key=${literal(tool.idempotencyKey ?? false)}`,
    ];
    return `${snake(typeName)} = ToolFacts(${values.join(', ')})\n`;
  });
  return `"""Facts about tools. Generated from the service's catalogue."""

from .._calls import ToolFacts

${rows.join('')}`;
}

function generateVersion(): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  return `"""Version of the package. Generated from package.json."""

__version__ = "${version}"
`;
}

function syncOf(file: string): string {
  return toSync(readFileSync(join(sources, '_async', file), 'utf8'), `_async/${file}`);
}
