/** Gateway between git inside a sandbox and a remote with credentials, which stay outside. */
import type { Duplex } from 'node:stream';
import type { SandhavenError } from '../../model/errors.ts';
import type { GitUrl } from '../../model/git/url.ts';

/** Purpose of a proxy: reading, or writing one branch. */
export type GitPurpose = { service: 'git-upload-pack' } | { service: 'git-receive-pack'; ref: string };

/** Access to a remote. */
export interface GitAccess {
  /** null: as anybody. */
  login: { username: string; password: string } | null;
  /**
   * Returns the meaning of the remote's 401, 403 or 404, where the caller of the gateway knows more than the status.
   */
  explain?(): Promise<SandhavenError>;
}

/** One remote repository, open for one operation. */
export interface GitProxy {
  /** First part of the path of every request: `/<nonce>/`. */
  readonly nonce: string;
  /** Accepts a connection from inside. */
  accept(connection: Duplex): void;
  /** The error of a remote that the proxy could not use. */
  readonly failure: SandhavenError | null;
  /** Bytes received from the remote. */
  readonly received: number;
  /** Ends all open work. */
  close(): void;
}

export interface GitGateway {
  /**
   * Rejects with `permission_denied` when the operator does not allow the remote's address, and with `unavailable` when
   * its name does not resolve.
   * @param call Its owner takes a share of the lookups of names.
   */
  open(
    remote: GitUrl,
    access: GitAccess,
    purpose: GitPurpose,
    call: { owner: string; signal?: AbortSignal | undefined },
  ): Promise<GitProxy>;
}
