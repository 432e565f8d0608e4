/** The way of a Git inside a sandbox to a remote that wants credentials, which stay outside. */
import type { Duplex } from 'node:stream';
import type { SandhavenError } from '../../model/errors.ts';
import type { GitUrl } from '../../model/git/url.ts';

/** What a Git may do through a proxy: read, or write one branch. */
export type GitPurpose = { service: 'git-upload-pack' } | { service: 'git-receive-pack'; ref: string };

/** What opens a remote. */
export interface GitAccess {
  /** null: as anybody. */
  login: { username: string; password: string } | null;
  /** What it means that the remote answers 401, 403 or 404, by somebody who knows more of it than its status. */
  explain?(): Promise<SandhavenError>;
}

/** One remote repository, open for one operation. */
export interface GitProxy {
  /** What the path of every request begins with: `/<nonce>/`. */
  readonly nonce: string;
  /** Takes over a connection that was made inside. */
  accept(connection: Duplex): void;
  /** Why the remote could not be used, as far as the proxy has seen it. */
  readonly failure: SandhavenError | null;
  /** Bytes that have come from the remote. */
  readonly received: number;
  /** Ends everything that is under way. */
  close(): void;
}

export interface GitGateway {
  /**
   * Fails with `permission_denied` when the operator does not allow the remote's address, and with `unavailable`
   * when its name does not resolve.
   */
  open(remote: GitUrl, access: GitAccess, purpose: GitPurpose, signal?: AbortSignal): Promise<GitProxy>;
}
