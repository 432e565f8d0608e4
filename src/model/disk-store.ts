/** The file system that disks lie in: the data directory's own, or a volume with reflinks in a file of it. */
export interface DiskStoreOptions {
  /** `auto`: the volume where the data directory has one; `xfs`: one is made where there is none. */
  kind: 'auto' | 'xfs';
  /** Size of the volume; null for that of the host's file system, and to leave a present one as it is. */
  sizeGb: number | null;
}

/** The store of a data directory as it is. */
export const presentStore: DiskStoreOptions = { kind: 'auto', sizeGb: null };
