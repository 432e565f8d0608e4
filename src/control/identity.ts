/** Who calls, and where things are. */
import type { Caller } from '../model/user.ts';
import type { UserStore } from './ports.ts';

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
  readonly #users: UserStore;

  constructor(users: UserStore) {
    this.#users = users;
  }

  /** null for a key that is not valid. */
  authenticate(apiKey: string): Promise<Caller | null> {
    return this.#users.callerOfKey(apiKey);
  }

  regions(): Region[] {
    return [localRegion];
  }
}
