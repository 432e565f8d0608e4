/**
 * Sign-ins of machines without a browser (RFC 8628): `sandhaven login` shows a code, a user approves it on the page, and the
 * machine gets a key of that user. The key is made when the machine fetches it, so it is nowhere before.
 */
import { hash as digest } from 'node:crypto';
import {
  type DeviceAnswer,
  type DeviceSignIn,
  newUserCode,
  readUserCode,
} from '../../model/access/ways-in.ts';
import { invalidArgument, notFound, SandhavenError } from '../../model/errors.ts';
import { newSignInToken } from '../../model/ids.ts';
import { limits } from '../../model/limits.ts';
import { networkOf } from '../../model/network/arrival.ts';
import { beyond, ownScopes, type Scope } from '../../model/scopes.ts';
import type { Caller } from '../../model/user.ts';
import type { Clock, DeviceSignInStore } from '../ports/index.ts';
import type { KeyService, OwnedKey } from './keys.ts';

export interface DeviceSignInDependencies {
  store: DeviceSignInStore;
  keys: Pick<KeyService, 'createFor'>;
  clock: Clock;
}

export interface DeviceOffer {
  /** Secret of the machine, with which it asks for the answer. */
  deviceCode: string;
  signIn: DeviceSignIn;
  /** Address of the page where the code is entered, and the same with the code. */
  url: string;
  urlWithCode: string;
}

export type DeviceResult = { status: 'pending' } | ({ status: 'approved'; apiKey: string } & OwnedKey);

const { codeMs } = limits.deviceSignIn;

export class DeviceSignInService {
  readonly #deps: DeviceSignInDependencies;
  #url = '';

  constructor(dependencies: DeviceSignInDependencies) {
    this.#deps = dependencies;
  }

  /** @param url Origin of the page. */
  servedAt(url: string): void {
    this.#url = url.replace(/\/+$/, '');
  }

  /**
   * Begins one. Rejects with `resource_exhausted` when too many of the network wait for their users.
   * @param machine Name of the machine, as it says.
   */
  async begin(machine: string, address: string): Promise<DeviceOffer> {
    const createdAt = this.#deps.clock.now();
    const expiresAt = createdAt + codeMs;
    const signIn = { userCode: newUserCode(), machine, address, createdAt, expiresAt };
    const deviceCode = newSignInToken();
    const added = await this.#deps.store.addDeviceSignIn(hashOf(deviceCode), signIn, networkOf(address));
    if (!added) throw tooMany();
    const url = `${this.#url}/device`;
    // In the fragment, which no log gets to see.
    return { deviceCode, signIn, url, urlWithCode: `${url}#code=${signIn.userCode}` };
  }

  /** Returns one that waits. Rejects with `not_found` for a code that is unknown, over or decided. */
  async find(typed: string): Promise<DeviceSignIn> {
    const found = await this.#deps.store.findDeviceSignIn(codeIn(typed), this.#deps.clock.now());
    if (!found) throw gone(typed);
    return found;
  }

  /** Lets the machine have a key of the caller: with these scopes, or null for all that the caller may do. */
  async approve(
    caller: Caller,
    typed: string,
    { scopes: wanted, keyMinutes }: { scopes: readonly Scope[] | null; keyMinutes: number },
  ): Promise<DeviceSignIn> {
    // A viewer's stays within a viewer's scopes when the user gets another role.
    const scopes = wanted ?? (caller.role === 'viewer' ? caller.scopes : null);
    const lacking = beyond(ownScopes(caller), scopes);
    if (lacking.length > 0) throw more(lacking);
    return this.#decide(typed, { userId: caller.id, scopes, keyMinutes });
  }

  deny(typed: string): Promise<DeviceSignIn> {
    return this.#decide(typed, null);
  }

  /**
   * Gives the machine its key, once. Rejects with `permission_denied` when the user said no, and with `not_found` for a
   * code that is over or was answered before.
   */
  async fetch(deviceCode: string): Promise<DeviceResult> {
    const { store, keys, clock } = this.#deps;
    const answer: DeviceAnswer = await store.takeDeviceAnswer(hashOf(deviceCode), clock.now());
    if (answer.status === 'pending') return answer;
    if (answer.status === 'denied') throw denied();
    if (answer.status === 'over') throw over();
    const { userId, scopes, keyMinutes } = answer.grant;
    const request = { name: `login on ${answer.machine}`, expiresInMinutes: keyMinutes, scopes };
    return { status: 'approved', ...(await keys.createFor(userId, request)) };
  }

  async #decide(
    typed: string,
    grant: Parameters<DeviceSignInStore['decideDeviceSignIn']>[1],
  ): Promise<DeviceSignIn> {
    const found = await this.find(typed);
    const decided = await this.#deps.store.decideDeviceSignIn(found.userCode, grant, this.#deps.clock.now());
    if (!decided) throw gone(typed);
    return found;
  }
}

function codeIn(typed: string): string {
  const code = readUserCode(typed);
  if (code) return code;
  throw invalidArgument('code', 'That is not a code.', 'It has eight letters, such as BCDF-GHJK.');
}

function hashOf(deviceCode: string): Buffer {
  return digest('sha256', deviceCode, 'buffer');
}

function tooMany(): SandhavenError {
  return new SandhavenError('resource_exhausted', 'Too many machines of this network wait to be signed in.', {
    hint: 'Try again in ten minutes, or log in with a key: `sandhaven login --key URL`.',
    retryable: true,
    retry_after_seconds: codeMs / 1_000,
  });
}

function gone(typed: string): SandhavenError {
  const hint = 'Run `sandhaven login` again, and enter the new code within ten minutes.';
  return notFound('device_sign_in', `No machine waits with the code '${typed.slice(0, 20)}'.`, hint);
}

function denied(): SandhavenError {
  return new SandhavenError('permission_denied', 'The sign-in was refused on the page.', {
    hint: 'Run `sandhaven login` again to ask once more.',
  });
}

function over(): SandhavenError {
  const hint = 'Run `sandhaven login` again.';
  return notFound('device_sign_in', 'The sign-in is over: nobody approved it in time.', hint);
}

function more(lacking: readonly Scope[]): SandhavenError {
  return new SandhavenError(
    'permission_denied',
    `This key or sign-in lacks the scopes ${lacking.join(', ')} itself.`,
    { parameter: 'scopes', hint: 'Approve fewer scopes, or approve as somebody who has them.' },
  );
}
