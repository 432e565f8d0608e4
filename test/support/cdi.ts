/**
 * GPUs of plain device nodes. Each has one that works, and one whose number is nobody's: machine-wide claims tell
 * hardware apart by its numbers, so GPUs of test runs side by side are different ones.
 */

import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';

/** Majors from here to 254 are for local use. */
const LOCAL_MAJOR = 240;

/** Where a write always finds the device full. */
export const full = { type: 'c', major: 1, minor: 7 };

export interface PlainGpu {
  name: string;
  /** Paths inside, and on the host. */
  works: string;
  marker: string;
  markerNumbers: { type: string; major: number; minor: number };
  containerEdits: { deviceNodes: object[]; env?: string[] };
}

/** @param folder Of the host's nodes, which are made here. */
export function plainGpu(folder: string, name: string): PlainGpu {
  const markerNumbers = { type: 'c', major: LOCAL_MAJOR, minor: randomInt(1 << 20) };
  const works = `/dev/gpu-works-${name}`;
  const marker = `/dev/gpu-marker-${name}`;
  makeNode(join(folder, `works-${name}`), full);
  makeNode(join(folder, `marker-${name}`), markerNumbers);
  return {
    name,
    works,
    marker,
    markerNumbers,
    containerEdits: {
      deviceNodes: [
        { path: works, hostPath: join(folder, `works-${name}`) },
        { path: marker, hostPath: join(folder, `marker-${name}`), permissions: 'rw' },
      ],
    },
  };
}

export function cdiSpec(kind: string, gpus: PlainGpu[], containerEdits: object = {}): object {
  const devices = gpus.map(({ name, containerEdits: edits }) => ({ name, containerEdits: edits }));
  return { cdiVersion: '0.6.0', kind, containerEdits, devices };
}

export function makeNode(path: string, { type, major, minor }: typeof full): void {
  const { status, stderr } = spawnSync('mknod', ['--mode', '0600', path, type, String(major), String(minor)]);
  if (status !== 0) throw new Error(`mknod: ${stderr}`);
}
