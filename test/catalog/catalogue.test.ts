/** What holds for every tool of the catalogue, whichever it is. */
import { describe, expect, it } from 'vitest';
import { descriptions } from '../../src/catalog/describe.ts';
import { tools } from '../../src/catalog/index.ts';
import type { JsonSchema } from '../../src/catalog/json-schema.ts';
import { BOUNDLESS } from '../../src/catalog/parameters/integer.ts';

/** The contract's tables, in their order. */
const names = [
  'CreateSandbox',
  'GetSandbox',
  'ListSandboxes',
  'StartSandbox',
  'StopSandbox',
  'ArchiveSandbox',
  'DeleteSandbox',
  'ConfigureSandboxAuto',
  'ResizeSandbox',
  'SetSandboxLabels',
  'CreateSnapshot',
  'GetSnapshot',
  'ListSnapshots',
  'ListRegions',
  'WhoAmI',
  'CreateSshAccess',
  'ListPorts',
  'GetPortPreviewUrl',
  'ListFiles',
  'FindFiles',
  'GetFileInfo',
  'ReadFile',
  'WriteFile',
  'CreateFolder',
  'MoveFile',
  'DeleteFile',
  'SearchContent',
  'ReplaceInFiles',
  'RunCode',
  'RunCommand',
  'CreateSession',
  'ListSessions',
  'RunSessionCommand',
  'GetSessionCommandLogs',
  'SendSessionInput',
  'GitClone',
  'GitStatus',
  'GitAdd',
  'GitCommit',
  'GitBranches',
  'GitCheckout',
  'GitCreateBranch',
  'GitDeleteBranch',
  'GitLog',
  'GitPull',
  'GitPush',
].map((name) => `Sandbox.${name}`);

const documentNames = [
  'DiscoverDatabases',
  'DiscoverCollections',
  'GetCollectionSchema',
  'FindDocuments',
  'CountDocuments',
  'AggregateDocuments',
].map((name) => `DocumentDb.${name}`);

/** What a model reads of each tool; output schemas are for programs. */
const MODEL_BYTES_A_TOOL = 870;
const BYTES_A_TOOL = 1_700;

describe('the catalogue', () => {
  it('[SBX-TOOLS-01] [WIRE-CATALOG-01] lists the 46 tools once each, in the order of the contract', () => {
    expect(tools.map(({ name }) => name).filter((name) => name.startsWith('Sandbox.'))).toEqual(names);
  });

  it('[DDB-TOOLS-01] lists the 6 tools of the document database after them', () => {
    expect(tools.map(({ name }) => name)).toEqual([...names, ...documentNames]);
  });

  it('[DDB-TOOLS-04] tells the order of use, and to project, to sort and to filter by what has an index', () => {
    const said = Object.fromEntries(descriptions.map(({ name, description }) => [name, description]));
    const steps = ['DiscoverDatabases', 'DiscoverCollections', 'GetCollectionSchema'];
    const [databases, collections, schema] = steps.map((name) => said[`DocumentDb.${name}`]);
    expect(databases).toMatch(/Next: DiscoverCollections/);
    expect(collections).toMatch(/Required before any tool that takes a collection_name/);
    expect(collections).toMatch(/Next: GetCollectionSchema for each collection/);
    expect(schema).toMatch(/Required before querying, for every collection of the query/);
    for (const name of ['FindDocuments', 'CountDocuments', 'AggregateDocuments']) {
      expect(said[`DocumentDb.${name}`]).toMatch(/Load the schema/);
    }
    expect(said['DocumentDb.FindDocuments']).toMatch(
      /indexed fields.* projection .* sort \(by _id if unsure\)/,
    );
    expect(said['DocumentDb.AggregateDocuments']).toMatch(/\$match on indexed fields/);
  });

  it('is small enough to be read by a model at every turn', () => {
    const modelBytes = descriptions.map(({ name, description, input_schema }) =>
      Buffer.byteLength(JSON.stringify({ name, description, input_schema })),
    );
    const bytes = Buffer.byteLength(JSON.stringify(descriptions));
    expect(sum(modelBytes) / descriptions.length).toBeLessThan(MODEL_BYTES_A_TOOL);
    expect(bytes / descriptions.length).toBeLessThan(BYTES_A_TOOL);
  });
});

describe.each(descriptions.map((tool) => [tool.name, tool] as const))('%s', (_name, tool) => {
  it('has a title, a description that ends as a sentence does, and all four hints', () => {
    expect(tool.title).toMatch(/^[A-Z][A-Za-z ,]+$/);
    expect(tool.description).toMatch(/^[A-Z][^\n]{20,}[.]$/);
    expect(tool.description.length).toBeLessThan(600);
    expect(Object.keys(tool.annotations).sort()).toEqual([
      'destructiveHint',
      'idempotentHint',
      'openWorldHint',
      'readOnlyHint',
    ]);
    if (tool.annotations.readOnlyHint) expect(tool.annotations.destructiveHint).toBe(false);
  });

  it('keeps its schemas in the dialect that all vendors accept', () => {
    for (const schema of [tool.input_schema, tool.output_schema]) {
      expect(schema.type).toBe('object');
      for (const keyword of ['oneOf', 'anyOf', 'allOf', 'not', 'if'])
        expect(schema).not.toHaveProperty(keyword);
      for (const node of nodes(schema)) {
        const forbidden = ['$ref', '$defs', 'exclusiveMinimum', 'exclusiveMaximum', 'additionalProperties'];
        for (const keyword of [...forbidden, 'propertyNames', 'sensitive', '$schema']) {
          expect(node).not.toHaveProperty(keyword);
        }
        expect(node.type === undefined || typeof node.type === 'string').toBe(true);
        if (typeof node['pattern'] === 'string') expect(node['pattern']).not.toContain('(?');
      }
    }
  });

  it('describes every parameter with its default and its bounds', () => {
    for (const [parameter, schema] of Object.entries(tool.input_schema.properties ?? {})) {
      const { description = '', default: fallback, minimum, maximum } = schema;
      expect(description, parameter).toMatch(/^(vCPUs|[A-Z]).+\.$/);
      if (schema.type === 'integer') {
        expect(minimum, parameter).toBeTypeOf('number');
        expect(maximum, parameter).toBeTypeOf('number');
        expect(description, parameter).toContain(String(minimum));
        // A maximum that only keeps sums exact is none to tell a model of.
        if (Number(maximum) < BOUNDLESS) expect(description, parameter).toContain(String(maximum));
      }
      if (fallback !== undefined) expect(description, parameter).toContain('default');
      if (typeof fallback === 'number') expect(description, parameter).toContain(`default ${fallback}`);
      if (schema.enum && fallback === undefined) expect(description.length, parameter).toBeGreaterThan(0);
    }
  });

  it('types every field of its output', () => {
    const fields = Object.entries(tool.output_schema.properties ?? {});
    expect(fields.length).toBeGreaterThan(0);
    for (const [field, schema] of fields) expect(schema.type ?? schema.anyOf, field).toBeDefined();
  });

  it('[WIRE-HTTP-06] has snake_case keys', () => {
    for (const schema of [tool.input_schema, tool.output_schema]) {
      const keys = nodes(schema).flatMap(({ properties }) => Object.keys(properties ?? {}));
      for (const key of keys) expect(key).toMatch(/^[a-z]+(_[a-z]+)*$/);
    }
  });

  it('[SBX-TOOLS-02] takes named parameters', () => {
    expect(tool.input_schema.type).toBe('object');
    const required = tool.input_schema.required ?? [];
    for (const name of required) expect(tool.input_schema.properties).toHaveProperty(name);
  });
});

/** Of each toolkit's table: `(R)` and the defaults. */
describe('the contract’s tables', () => {
  const required: Record<string, string[]> = {
    GetSandbox: ['sandbox'],
    StartSandbox: ['sandbox'],
    StopSandbox: ['sandbox'],
    ArchiveSandbox: ['sandbox'],
    DeleteSandbox: ['sandbox'],
    ConfigureSandboxAuto: ['sandbox'],
    ResizeSandbox: ['sandbox'],
    SetSandboxLabels: ['sandbox', 'labels'],
    CreateSshAccess: ['sandbox'],
    GetPortPreviewUrl: ['sandbox', 'port'],
    CreateSnapshot: ['name', 'image'],
    GetSnapshot: ['snapshot'],
    FindFiles: ['pattern'],
    GetFileInfo: ['path'],
    ReadFile: ['path'],
    WriteFile: ['path', 'content'],
    CreateFolder: ['path'],
    MoveFile: ['source', 'destination'],
    DeleteFile: ['path'],
    SearchContent: ['query'],
    ReplaceInFiles: ['pattern', 'replacement', 'files'],
    RunCode: ['code'],
    RunCommand: ['command'],
    RunSessionCommand: ['session_id', 'command'],
    GetSessionCommandLogs: ['session_id', 'command_id'],
    SendSessionInput: ['session_id', 'command_id', 'input'],
    GitClone: ['url'],
    GitAdd: ['files'],
    GitCommit: ['message'],
    GitCheckout: ['ref'],
    GitCreateBranch: ['branch'],
    GitDeleteBranch: ['branch'],
    DiscoverCollections: ['database_name'],
    GetCollectionSchema: ['database_name', 'collection_name'],
    FindDocuments: ['database_name', 'collection_name'],
    CountDocuments: ['database_name', 'collection_name'],
    AggregateDocuments: ['database_name', 'collection_name', 'pipeline'],
  };
  const defaults: Record<string, Record<string, unknown>> = {
    CreateSandbox: {
      language: 'python',
      auto_stop_minutes: 15,
      cpu: 2,
      memory_gb: 4,
      disk_gb: 20,
      gpu: 0,
      ephemeral: false,
    },
    GetSandbox: { include_raw_env_vars: false },
    ListSandboxes: { page: 1, page_size: 20 },
    GetPortPreviewUrl: { signed: false, expires_in_seconds: 3_600 },
    ListFiles: { max_items: 50, offset: 0 },
    FindFiles: { max_items: 50, offset: 0 },
    WriteFile: { create_parents: true },
    CreateFolder: { mode: '755' },
    DeleteFile: { recursive: false },
    SearchContent: { context_lines: 0, output: 'matches', max_items: 50, offset: 0 },
    RunCode: { timeout_seconds: 30 },
    RunCommand: { timeout_seconds: 60 },
    RunSessionCommand: { async_exec: false },
    GitCheckout: { create_new_branch: false },
    GitDeleteBranch: { force: false },
    GitLog: { max_count: 20 },
    GitPush: { force: false },
    GetCollectionSchema: { sample_size: 1000 },
    FindDocuments: { limit: 1000, skip: 0 },
    AggregateDocuments: { limit: 1000 },
  };

  it.each([...names, ...documentNames])(
    '[SBX-TOOLS-05] [DDB-DISCOVER-01, DDB-DISCOVER-02, DDB-SCHEMA-01, DDB-FIND-01, DDB-AGG-01] %s requires what its table requires, and nothing else',
    (name) => {
      expect(schemaOf(name).required ?? []).toEqual(required[name.replace(/^.*[.]/, '')] ?? []);
    },
  );

  it.each(Object.entries(defaults))(
    '[SBX-CREATE-06] [SBX-CREATE-19] [SBX-LIST-06] [SBX-PREVIEW-02] [SBX-PREVIEW-05] [SBX-FILES-21] [SBX-FILES-24] [SBX-GIT-18, SBX-GIT-20, SBX-GIT-23] [DDB-SCHEMA-03, DDB-FIND-05, DDB-FIND-06, DDB-AGG-03] %s has the defaults of its table',
    (name, expected) => {
      const properties = schemaOf(name).properties ?? {};
      const actual = Object.fromEntries(Object.keys(expected).map((key) => [key, properties[key]?.default]));
      expect(actual).toEqual(expected);
    },
  );
});

function schemaOf(name: string): JsonSchema {
  const tool = descriptions.find((one) => one.name.endsWith(`.${name.replace(/^.*[.]/, '')}`));
  if (!tool) throw new Error(`no tool ${name}`);
  return tool.input_schema;
}

/** The schema and all schemas in it. */
function nodes(schema: JsonSchema): JsonSchema[] {
  const inner = [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? [])];
  if (schema.items) inner.push(schema.items);
  return [schema, ...inner.flatMap(nodes)];
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
