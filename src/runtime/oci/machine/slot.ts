/** A place for one running machine: its host user ids, its namespaces and its address. */
export interface Slot {
  /** Machine-wide number, locked under /run/sandhaven/slots. */
  index: number;
  /** First of 65,536 host user and group ids: 200000 + 65536 × index. */
  uidBase: number;
  /** Pinned namespaces (bind mounts of /proc/…/ns/*), joined by the machine. */
  userNamespacePath: string;
  netNamespacePath: string;
  /** The machine's address, a /32. Empty like the two below for a machine with nothing but loopback. */
  address: string;
  /** The host's side: default route and DNS server of the machine. */
  gateway: string;
  /** The host's end of the pair of links. */
  hostInterface: string;
}

/** Ready-made slots; acquiring one is immediate while the pool has any. */
export interface Slots {
  /**
   * Takes the instance for this process alone, until `close`; `init` does it too. `failed_precondition` when a running
   * service or another data directory has its id.
   */
  claim(): void;
  /** Recovers the slots that sandboxes hold since before a restart, removes the rest, fills the pool. */
  init(): Promise<void>;
  /** Bound to the sandbox until released; the same slot again for the same sandbox. `resource_exhausted` when none is left. */
  acquire(sandboxId: string): Promise<Slot>;
  /** The slot of a sandbox, when it has one. */
  get(sandboxId: string): Promise<Slot | null>;
  /**
   * The namespaces are made anew before the slot is handed out again. The caller has removed the machine's cgroups, so
   * no process of it is left.
   */
  release(sandboxId: string): Promise<void>;
  /** Sandbox ids that hold slots, for finding orphans. */
  held(): Promise<string[]>;
  free(): number;
  /** Ends the service's own part (DNS forwarder, unused slots); slots in use and their firewall stay. */
  close(): Promise<void>;
  /** Removes every trace of this instance: table, links, namespaces, addresses, locks. For uninstall and tests. */
  purge(): Promise<void>;
}
