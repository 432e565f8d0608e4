/** Reasons for which the service connects to no address of a host. */

/**
 * private: an address is neither public nor allowed. unknown: the name is not there, or has no address. silent: no name server
 * answered in time. failing: the name servers answered with a failure.
 */
export type Reason = 'private' | 'unknown' | 'silent' | 'failing';

const words: Record<Reason, (host: string) => string> = {
  private: (host) => `${host} has an address that is not public.`,
  unknown: (host) => `The host ${host} is not found.`,
  silent: (host) => `No name server answers for ${host}.`,
  failing: (host) => `The name servers cannot find ${host} now.`,
};

/** As the system's lookup has them, for those who report no more than a code. */
const codes: Record<Reason, string> = {
  ...{ private: 'EACCES', unknown: 'ENOTFOUND', silent: 'ETIMEOUT', failing: 'EAI_AGAIN' },
};

export class NotReached extends Error {
  readonly reason: Reason;
  readonly code: string;

  constructor(host: string, reason: Reason, cause?: unknown) {
    super(words[reason](host), { cause });
    this.name = 'NotReached';
    this.reason = reason;
    this.code = codes[reason];
  }
}
