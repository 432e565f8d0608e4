/**
 * Last uses of secrets, as the egress program reports them: gathered in memory and stored twice a minute, so that a request
 * costs no commit. A service that is killed forgets those in between.
 */
import { limits } from '../../model/limits.ts';
import { isDropped, type NetworkReport } from '../../model/network/traffic.ts';
import type { Log, SecretStore } from '../ports/index.ts';

export interface SecretActivityDependencies {
  store: Pick<SecretStore, 'noteUses'>;
  log: Log;
}

const { usesKept, usesStoredMs } = limits.secrets;

export class SecretActivity {
  readonly #deps: SecretActivityDependencies;
  /** Latest use by the secret's id. */
  #uses = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(dependencies: SecretActivityDependencies) {
    this.#deps = dependencies;
  }

  hear(reports: readonly NetworkReport[]): void {
    for (const report of reports) {
      if (isDropped(report) || report.secret === null) continue;
      const known = this.#uses.get(report.secret);
      if (known === undefined && this.#uses.size >= usesKept) continue;
      this.#uses.set(report.secret, Math.max(known ?? 0, report.at));
    }
    if (this.#uses.size === 0 || this.#timer) return;
    this.#timer = setTimeout(() => void this.flush(), usesStoredMs).unref();
  }

  /** Stores what was gathered. Does not reject: a use that cannot be stored is forgotten. */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const uses = this.#uses;
    this.#uses = new Map();
    if (uses.size === 0) return;
    await this.#deps.store.noteUses(uses).catch((error: unknown) => {
      this.#deps.log.warn('uses of secrets could not be stored', { error });
    });
  }
}
