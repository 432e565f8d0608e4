/** Bounds of an operator's CDI specifications. One of a host with eight GPUs has some 100 KiB. */
import { MiB } from './units.ts';

export const gpusLimits = {
  cdi: {
    /** Specifications in one folder. */
    specs: 64,
    specBytes: 2 * MiB,
    /** Devices of one specification. */
    devices: 512,
    /** Entries of one list of edits; a machine has at most as many as nine of them, the devices' and the common one. */
    deviceNodes: 64,
    mounts: 1_024,
    env: 128,
    /** Names in a folder that are searched for further names of a library. */
    folderNames: 65_536,
  },
} as const;
