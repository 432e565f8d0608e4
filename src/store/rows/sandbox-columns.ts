/**
 * Columns of a sandbox row, one per property. The types and CHECKs of the schema guard simple values; JSON is validated
 * on read, and env vars are sealed.
 */
import { z } from 'zod';
import { networkModes } from '../../model/network/setting.ts';
import { type ArchiveRecord, deadlineActions, type Sandbox } from '../../model/sandbox.ts';
import type { Secrets } from '../files/secrets.ts';
import type { Row, SqlValue } from '../sql/sql.ts';

interface Column<T> {
  name: string;
  encode(value: T, row: RowContext): SqlValue;
  decode(stored: unknown, row: RowContext): T;
}

interface RowContext {
  id: string;
  secrets: Secrets;
}

const TABLE = 'sandboxes';

const resources = z.strictObject({
  cpu: z.int(),
  memory: z.int(),
  disk: z.int(),
  gpu: z.int(),
});
/** Names and rules of a later version are kept as they are. */
export const networkSchema = z.strictObject({
  mode: z.enum(networkModes),
  profiles: z.array(z.string()),
  allow: z.array(z.string()),
});
/** Not z.record, which loses a key named __proto__. */
const textMap = z.custom<Record<string, string>>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => typeof item === 'string'),
);

export const imageConfigSchema = z.strictObject({
  env: textMap,
  workdir: z.string(),
  entrypoint: z.array(z.string()).nullable(),
  cmd: z.array(z.string()).nullable(),
});

const contents = {
  digest: z.string(),
  hmac: z.string(),
  sizeBytes: z.int(),
  keyId: z.string().exactOptional(),
};

const archive = z.discriminatedUnion('store', [
  z.strictObject({ store: z.literal('local'), ...contents }),
  z.strictObject({ store: z.literal('s3'), bucket: z.string(), key: z.string(), ...contents }),
]);

/** Rows from before archives had a place name none; theirs is this host. */
const archiveSchema: z.ZodType<ArchiveRecord> = z.preprocess(
  (value) =>
    typeof value === 'object' && value !== null && !('store' in value) ? { store: 'local', ...value } : value,
  archive,
);

const deadline = z.strictObject({ at: z.int(), action: z.enum(deadlineActions) });
const sleep = z.strictObject({ afterSeconds: z.int().nullable(), wakes: z.boolean() });

const columns: { [K in keyof Sandbox]: Column<Sandbox[K]> } = {
  id: plain('id'),
  ownerId: plain('owner_id'),
  name: plain('name'),
  state: plain('state'),
  operation: plain('operation'),
  holder: plain('holder'),
  stateReason: plain('state_reason'),
  generation: plain('generation'),
  runGeneration: plain('run_generation'),
  language: plain('language'),
  snapshot: plain('snapshot'),
  image: plain('image'),
  imageDigest: plain('image_digest'),
  entrypoint: json('entrypoint', z.array(z.string()).nullable()),
  resources: json('resources', resources),
  resizeTarget: json('resize_target', resources.nullable()),
  rollbackTo: plain('rollback_to'),
  labels: json('labels', textMap),
  envVars: sealedJson('env_vars', textMap),
  user: plain('linux_user'),
  imageConfig: json('image_config', imageConfigSchema.nullable()),
  network: json('network', networkSchema),
  secretIds: json('secrets', z.array(z.string())),
  autoStopMinutes: plain('auto_stop_minutes'),
  autoArchiveMinutes: plain('auto_archive_minutes'),
  autoDeleteMinutes: plain('auto_delete_minutes'),
  deadline: json('deadline', deadline.nullable()),
  sleep: json('sleep', sleep.nullable()),
  ephemeral: flag('ephemeral'),
  regionId: plain('region_id'),
  archive: json('archive', archiveSchema.nullable()),
  creationKey: plain('creation_key'),
  createdAt: plain('created_at'),
  updatedAt: plain('updated_at'),
  lastActivityAt: plain('last_activity_at'),
  startedAt: plain('started_at'),
  stoppedAt: plain('stopped_at'),
  archivedAt: plain('archived_at'),
};

const properties = Object.keys(columns) as (keyof Sandbox)[];

/** Returns the column list for SELECT and RETURNING. */
export function columnList(wanted: readonly (keyof Sandbox)[] = properties): string {
  return wanted.map((property) => columns[property].name).join(', ');
}

export class SandboxCodec {
  readonly #secrets: Secrets;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  /** Returns the columns of the given properties, always in the same order. */
  encode(id: string, sandbox: Partial<Sandbox>): Record<string, SqlValue> {
    const context = { id, secrets: this.#secrets };
    const encoded: Record<string, SqlValue> = {};
    for (const property of properties) {
      if (!Object.hasOwn(sandbox, property)) continue;
      const column = columns[property] as Column<unknown>;
      encoded[column.name] = column.encode(sandbox[property], context);
    }
    return encoded;
  }

  /** Throws when a stored value is damaged, was moved to another row, or was sealed with another key. */
  decode(row: Row): Sandbox {
    return this.decodeOnly(row, properties);
  }

  decodeOnly<K extends keyof Sandbox>(row: Row, wanted: readonly K[]): Pick<Sandbox, K> {
    const context = { id: String(row['id']), secrets: this.#secrets };
    const decoded = wanted.map((property) => {
      const column = columns[property];
      try {
        return [property, column.decode(row[column.name], context)];
      } catch (cause) {
        throw new Error(`column ${column.name} of sandbox ${context.id} cannot be read`, { cause });
      }
    });
    return Object.fromEntries(decoded);
  }
}

function plain<T extends string | number | null>(name: string): Column<T> {
  return { name, encode: (value) => value, decode: (stored) => stored as T };
}

function flag(name: string): Column<boolean> {
  return { name, encode: (value) => (value ? 1 : 0), decode: (stored) => stored === 1 };
}

/** Encodes as JSON; null is NULL. */
function json<T>(name: string, schema: z.ZodType<T>): Column<T> {
  return {
    name,
    encode: (value) => (value === null ? null : JSON.stringify(value)),
    decode: (stored) => schema.parse(stored === null ? null : JSON.parse(String(stored))),
  };
}

function sealedJson<T>(name: string, schema: z.ZodType<T>): Column<T> {
  const place = (row: RowContext) => ({ table: TABLE, row: row.id, column: name });
  return {
    name,
    encode: (value, row) => row.secrets.seal(JSON.stringify(value), place(row)),
    decode: (stored, row) => schema.parse(JSON.parse(row.secrets.open(stored, place(row)))),
  };
}
