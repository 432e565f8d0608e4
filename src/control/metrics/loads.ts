/** Loads of the shares of users, by name: what of a share is taken, and how often somebody was refused. */
import type { Load } from '../../fairness/shares.ts';

export const shareNames = [
  'requests',
  'event_streams',
  'terminals',
  'tunnels',
  'previews',
  'file_previews',
  'ssh',
  'git',
] as const;
export type ShareName = (typeof shareNames)[number];

export class Loads {
  readonly #watched = new Map<ShareName, Load>();

  /** Called once for each name, by who bounds it. */
  watch(name: ShareName, load: Load): void {
    this.#watched.set(name, load);
  }

  get all(): ReadonlyMap<ShareName, Load> {
    return this.#watched;
  }
}
