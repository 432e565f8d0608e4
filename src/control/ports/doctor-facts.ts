/**
 * Facts about this host and its service that `sandhaven doctor` judges and only other parts can find out. None may be left
 * out: null is a statement of its own.
 */

export interface ListenAddress {
  flag: string;
  host: string;
  port: number;
  /** true: any free port will do, since the operator chose none. */
  givesWay: boolean;
}

export interface DoctorFacts {
  /** Addresses that `up` would listen on, with the present settings. */
  addresses: ListenAddress[];
  /** Names missing for outside clients although the API is public; null for none. */
  missingPublicNames: { found: string; advice: string } | null;
  /** Returns true while the service of this data directory runs. */
  isServed(dataDir: string): boolean;
  /** Finds instances whose data directory is gone, with their remaining machines. */
  findOrphans(): Promise<{ instance: string; machines: number }[]>;
  /** Describes another use of the data directory's id on this host, with advice; null for none. */
  otherService(dataDir: string): { found: string; advice: string } | null;
  /** Lists the cgroup hierarchies mounted here; controllers are those of v1. */
  cgroups(): { mountpoint: string; version: 1 | 2; controllers: string[] }[];
  /** Returns the folder of disks, the room that they have, and true where a copy of one shares its bytes; null: unknown. */
  examineDisks(dataDir: string): Promise<{ folder: string; freeBytes: number; clones: boolean | null }>;
  /** Memory that this service and its sandboxes may still take. */
  availableMemoryBytes(): Promise<number>;
  /** Returns the kernel's error for a firewall of ours; null when it accepts the rules. */
  tryRules(): Promise<string | null>;
  /** The same for a firewall with network rules, which takes more of the kernel. */
  tryNetworkRules(): Promise<string | null>;
  /** Returns a program's output when it succeeds; null otherwise. */
  tryProgram(path: string, args: string[]): Promise<string | null>;
  /** Returns what starts machines, with the reason; rejects when the choice is impossible here. */
  machineRuntime(): Promise<{ kind: 'runc' | 'direct'; why: string }>;
  /** Path of the runc that the engine uses, where it does. */
  runcPath: string;
  /** Returns null for output that is not that of `runc --version`. */
  judgeRunc(output: string): { version: string; vulnerable: boolean } | null;
  /** Programs that `make build` makes. */
  builtPrograms: string[];
  /** Examines the host's GPUs as the service sees them. */
  examineGpus(): Promise<{
    kind: string;
    names: string[];
    held: number;
    problems: string[];
    /** Devices of the specifications that no sandbox gets. */
    leftOut: string[];
  }>;
  /** Reads the base image from the cache; null when it is missing. */
  readBaseImage(): Promise<{ digest: string; sizeBytes: number } | null>;
  /** Reads and judges the listeners' certificate; null without one. */
  readCertificate: (() => Promise<{ names: string[]; validFrom: number; validTo: number }>) | null;
  /** Names below which clients of E2B look for the API and for each sandbox; null where their wire is not spoken. */
  clientNames: { domain: string; isTls: boolean; lookUp(name: string): Promise<string[]> } | null;
  /** Proves the archive store and describes it; null when archives stay on this host. */
  proveArchiveStore: (() => Promise<string>) | null;
  /**
   * Checks for write access of the document database's credentials, null when the server does not say; null without
   * a database.
   */
  couldWriteDocuments: (() => Promise<boolean | null>) | null;
}
