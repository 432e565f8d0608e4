/**
 * Parser of one specification of the Container Device Interface. Unknown fields are ignored, except container edits:
 * `leftOut` lists those, so that the operator sees them.
 */
import { posix } from 'node:path';
import { z } from 'zod';
import { cdiKindPattern, cdiNamePattern } from '../../../model/gpu-kind.ts';
import { limits } from '../../../model/limits.ts';

export interface CdiNode {
  /** Path inside the machine. */
  path: string;
  hostPath: string;
  /** Type and numbers that are null come from the host's node. */
  type: 'c' | 'b' | null;
  major: number | null;
  minor: number | null;
  mode: number;
  uid: number;
  gid: number;
  /** Access for the device rules of a cgroup: of r and w. */
  access: string;
}

export interface CdiMount {
  hostPath: string;
  containerPath: string;
}

export interface CdiEdits {
  env: Record<string, string>;
  nodes: CdiNode[];
  mounts: CdiMount[];
  /** Kinds of ignored edits, one entry per occurrence: "hook", "mount of another type" … */
  leftOut: string[];
}

export interface CdiSpec {
  kind: string;
  edits: CdiEdits;
  devices: Map<string, CdiEdits>;
}

/** @throws Error with a reason for the operator. */
export function parseCdiSpec(document: unknown): CdiSpec {
  const parsed = specSchema.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'not understood'}`);
  }
  const { kind, containerEdits, devices: listed } = parsed.data;
  const devices = new Map(listed.map(({ name, containerEdits: edits }) => [name, readEdits(edits)]));
  if (devices.size < listed.length) throw new Error('two of its devices have the same name');
  return { kind, edits: readEdits(containerEdits ?? {}), devices };
}

const bounds = limits.cdi;
const maxId = 65_535;

const path = z
  .string()
  .max(limits.pathBytes)
  .regex(/^\/[^\0]*$/, 'not an absolute path')
  .refine((text) => posix.normalize(text) === text, 'not a plain path');

/** Paths allowed for nodes: below /dev, except nodes of the machine's own /dev. */
const nodePath = path
  .regex(/^\/dev\/[^/]/, 'not below /dev')
  .refine((text) => !ownDevices.has(text.split('/')[2] ?? ''), 'a standard device');

const ownDevices = new Set(
  'console fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero'.split(' '),
);

/** Paths allowed for mounts: all except the runtime's own mounts, and /dev, whose nodes are listed as nodes. */
const mountPath = path.refine(
  (text) => !/^\/(?:(?:proc|sys|dev|\.sandhaven)(?:\/|$)|etc\/(?:hosts|hostname|resolv\.conf)$|$)/.test(text),
  'a place that no specification may mount at',
);

const id = z.number().int().min(0).max(maxId);
/** Device numbers of Linux: 12 bits for major, 20 for minor. */
const major = z.number().int().min(0).max(0xfff);
const minor = z.number().int().min(0).max(0xfffff);

const nodeSchema = z.object({
  path: nodePath,
  hostPath: path.optional(),
  type: z.enum(['c', 'u', 'b']).optional(),
  major: major.optional(),
  minor: minor.optional(),
  fileMode: z.number().int().min(0).optional(),
  permissions: z
    .string()
    .regex(/^[rwm]{1,3}$/)
    .optional(),
  uid: id.optional(),
  gid: id.optional(),
});

/** Options are ignored: every mount is read-only, without devices and set-uid programs. */
const mountSchema = z
  .object({ hostPath: z.string(), containerPath: z.string(), type: z.string().default('') })
  .superRefine((mount, context) => {
    if (!isBind(mount)) return;
    const bind = z.object({ hostPath: path, containerPath: mountPath }).safeParse(mount);
    for (const issue of bind.error?.issues ?? []) context.addIssue({ ...issue, code: 'custom' });
  });

function isBind({ type }: { type: string }): boolean {
  return ['', 'bind', 'none'].includes(type);
}

const editsSchema = z.looseObject({
  env: z
    .array(
      z
        .string()
        .max(limits.envKeyChars + limits.envValueBytes)
        .regex(/^[A-Za-z_][A-Za-z0-9_]*=[^\0]*$/),
    )
    .max(bounds.env)
    .nullish(),
  deviceNodes: z.array(nodeSchema).max(bounds.deviceNodes).nullish(),
  mounts: z.array(mountSchema).max(bounds.mounts).nullish(),
});

const specSchema = z.object({
  // Minor versions only add fields.
  cdiVersion: z.string().regex(/^(?:0\.[3-9]|1\.\d{1,3})\.\d{1,3}$/, 'not a version that is known'),
  kind: z.string().regex(cdiKindPattern, 'not vendor/class'),
  containerEdits: editsSchema.nullish(),
  devices: z
    .array(z.object({ name: z.string().regex(cdiNamePattern, 'not a name'), containerEdits: editsSchema }))
    .max(bounds.devices),
});

function readEdits({ env, deviceNodes, mounts, ...others }: z.infer<typeof editsSchema>): CdiEdits {
  const binds = (mounts ?? []).filter(isBind);
  const leftOut = [
    ...(mounts ?? []).slice(binds.length).map(() => 'mount of another type'),
    ...Object.entries(others).flatMap(([name, value]) => {
      if (value === null || value === undefined) return [];
      return Array.isArray(value) ? value.map(() => singular(name)) : [name];
    }),
  ];
  return {
    env: Object.fromEntries((env ?? []).map(splitPair)),
    nodes: (deviceNodes ?? []).map(readNode),
    mounts: binds.map(({ hostPath, containerPath }) => ({ hostPath, containerPath })),
    leftOut,
  };
}

function readNode(node: z.infer<typeof nodeSchema>): CdiNode {
  const { type, permissions = 'rw', fileMode = 0o666 } = node;
  return {
    path: node.path,
    hostPath: node.hostPath ?? node.path,
    type: type === 'u' ? 'c' : (type ?? null),
    major: node.major ?? null,
    minor: node.minor ?? null,
    mode: fileMode & 0o777,
    uid: node.uid ?? 0,
    gid: node.gid ?? 0,
    // No `m`: no program inside may make nodes, whatever the specification allows.
    access: ['r', 'w'].filter((letter) => permissions.includes(letter)).join(''),
  };
}

function splitPair(pair: string): [string, string] {
  const at = pair.indexOf('=');
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function singular(name: string): string {
  return name.replace(/s$/, '');
}
