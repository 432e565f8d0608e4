/** Facts about this machine that `sandhaven doctor` judges, and that only the engine can find out. */

export interface ListenAddress {
  flag: string;
  host: string;
  port: number;
  /** Whether a free port does as well: nobody chose this one. */
  givesWay: boolean;
}

export interface DoctorFacts {
  /** What `up` listens on, as it is set now. */
  addresses: ListenAddress[];
  /** What the world does not reach although the API is public; null for nothing. */
  missingPublicNames: { found: string; advice: string } | null;
  /** Whether the service of this data directory runs. */
  isServed(dataDir: string): boolean;
  /** Instances whose data directory is gone, with what they left running. */
  findOrphans(): Promise<{ instance: string; machines: number }[]>;
  /** What else on this machine has the data directory's id, and what to do about it; null for nothing. */
  otherService(dataDir: string): { found: string; advice: string } | null;
  /** The hierarchies that are mounted here; controllers are those of v1. */
  cgroups(): { mountpoint: string; version: 1 | 2; controllers: string[] }[];
  /** What the kernel says against a firewall of ours; null when it takes the rules. */
  tryRules(): Promise<string | null>;
  /** What a program prints when it succeeds; null otherwise. */
  tryProgram(path: string, args: string[]): Promise<string | null>;
  /** The runc that the engine uses. */
  runcPath: string;
  /** null when the output is not that of `runc --version`. */
  judgeRunc(output: string): { version: string; vulnerable: boolean } | null;
  /** The programs that `make build` makes. */
  builtPrograms: string[];
  /** What this host has to hand out, as the service sees it. */
  examineGpus(): Promise<{
    kind: string;
    names: string[];
    held: number;
    problems: string[];
    /** What specifications ask for and nobody gets. */
    leftOut: string[];
  }>;
  /** In the cache; null when there is none. */
  readBaseImage(): Promise<{ digest: string; sizeBytes: number } | null>;
  /** The listeners' certificate, judged; absent: there is none. */
  readCertificate?: () => Promise<{ names: string[]; validFrom: number; validTo: number }>;
  /** Whether the document database's credentials may write, null where it does not tell; absent: there is none. */
  couldWriteDocuments?: () => Promise<boolean | null>;
}
