/** The client of a catalogue that is not the whole one, as the compiler sees it. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/catalog/base/tool.ts';
import { allTools } from '../../src/catalog/index.ts';
import { root, run, tsc } from '../../test/support/sdk-package.ts';
import { generateSdk } from '../generate/sdk.ts';

describe('a toolkit of its own', () => {
  const plain = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  const database = z.looseObject({ name: z.string(), size_on_disk: z.int(), empty: z.boolean() });
  const discover = defineTool({
    name: 'DocumentDb.DiscoverDatabases',
    title: 'Discover databases',
    description: 'Ends a comment */ and goes on.',
    input: z.strictObject({ offset: z.int().default(0).describe('How many to skip.') }),
    output: z.looseObject({ result: z.array(database), has_more: z.boolean() }),
    annotations: plain,
    handler: async () => ({ result: [], has_more: false }),
  });
  const sandboxTools = allTools.filter(({ name }) => name.startsWith('Sandbox.'));
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sandhaven-generated-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('[WIRE-SDK-01] gets a namespace, iterators included, and no description ends the comment that it is in', async () => {
    await cp(join(root, 'sdk', 'src'), join(folder, 'src'), { recursive: true });
    await cp(join(root, 'sdk', 'tsconfig.json'), join(folder, 'tsconfig.json'));
    // Says that the files are modules; otherwise a package.json of any folder above decides.
    await cp(join(root, 'sdk', 'package.json'), join(folder, 'package.json'));
    await writeFile(join(folder, 'src', 'generated.ts'), generateSdk([...sandboxTools, discover]));
    await writeFile(
      join(folder, 'src', 'use.ts'),
      `import { Sandhaven } from './index.ts';
      const client = new Sandhaven();
      const { result, has_more } = await client.documentDb.discoverDatabases();
      for await (const { name } of client.iterate.discoverDatabases({ offset: 2 })) console.log(name, result, has_more);
      `,
    );
    expect(await run(process.execPath, [tsc, '-p', 'tsconfig.json'], folder)).toMatchObject({
      status: 0,
      stdout: '',
    });
  });
});
