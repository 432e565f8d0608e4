/** Who calls, and where things are. */
import type { Caller } from '../model/user.ts';
import type { Clock, KeyStore } from './ports.ts';

export interface Region {
  id: string;
  name: string;
  location: { country: string; city: string };
}

/** The one region of a service on one machine. Where that machine stands, the service cannot know. */
export const localRegion: Region = {
  id: 'local',
  name: 'Local',
  location: { country: 'unknown', city: 'unknown' },
};

export class IdentityService {
  readonly #keys: KeyStore;
  readonly #clock: Clock;

  constructor(keys: KeyStore, clock: Clock) {
    this.#keys = keys;
    this.#clock = clock;
  }

  /** null for a key that is not valid. */
  authenticate(apiKey: string): Promise<Caller | null> {
    return this.#keys.callerOf(apiKey, this.#clock.now());
  }

  regions(): Region[] {
    return [localRegion];
  }
}
