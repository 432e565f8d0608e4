/**
 * Files of a sandbox by signed addresses: its owner gets the signing key of the sandbox and signs the address of one file, which
 * whoever has it reads or writes until its end. All of them end when the key is rotated, and when previews are revoked.
 */
import type { Readable } from 'node:stream';
import { Shares } from '../../fairness/shares.ts';
import { SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import type { User } from '../../model/user.ts';
import type { PreviewGrants } from '../audit/preview-grants.ts';
import type { AgentLink, Clock } from '../ports/index.ts';
import { type SandboxUses, userOf } from '../work/sandbox-uses.ts';
import type { AccessService } from './tokens.ts';

export interface SignedRequest {
  sandboxId: string;
  path: string;
  /** Milliseconds since the epoch; no end, or a distant one, is refused. */
  expiresAt: number;
  /** Returns true where the key signed this request, its path and its end included. */
  isSigned(key: string): boolean;
  /** Of the visitor, for the audit log. */
  address: string | null;
  signal: AbortSignal;
}

export interface SignedFile {
  read(): Promise<{ size: number; stream: Readable }>;
  write(content: Readable): Promise<void>;
}

export interface SignedFilesDependencies {
  uses: Pick<SandboxUses, 'find' | 'connected'>;
  agent: Pick<AgentLink, 'readStream' | 'write'>;
  access: Pick<AccessService, 'signingKey' | 'rotateSigningKey'>;
  grants: Pick<PreviewGrants, 'note'>;
  clock: Clock;
}

export class SignedFiles {
  readonly #deps: SignedFilesDependencies;
  readonly #requests = new Shares({
    ...limits.preview.files.requests,
    what: 'files are being read and written by signed addresses',
  });

  constructor(dependencies: SignedFilesDependencies) {
    this.#deps = dependencies;
  }

  async key(caller: User, reference: string): Promise<string> {
    const { id } = await this.#deps.uses.find(caller, reference);
    return this.#deps.access.signingKey(id);
  }

  /** Returns the next key. Requests in progress go on. */
  async rotate(caller: User, reference: string): Promise<string> {
    const { id } = await this.#deps.uses.find(caller, reference);
    return this.#deps.access.rotateSigningKey(id);
  }

  /**
   * Runs `work` with the file, as a use of the sandbox. Rejects with `permission_denied` for an address that is not signed, or
   * whose time is over, whatever sandbox it names.
   * @param end Called when the sandbox, or the right of its owner, ends before `work`.
   */
  async visit<T>(
    request: SignedRequest,
    work: (file: SignedFile) => Promise<T>,
    end: () => void,
  ): Promise<T> {
    const { uses, agent, access, grants, clock } = this.#deps;
    const { sandboxId, path, expiresAt, address, signal } = request;
    const left = expiresAt - clock.now();
    const isInTime = left > 0 && left <= limits.preview.signedFileSeconds * 1_000;
    if (!isInTime || !request.isSigned(await access.signingKey(sandboxId))) throw refused();
    return uses.connected(
      sandboxId,
      async (sandbox) => {
        const { ownerId } = sandbox;
        if (ownerId === null) throw refused();
        const leave = this.#requests.take(ownerId);
        grants.note({ sandboxId, ownerId, port: null, tokenId: null, address });
        const query = { path, user: userOf(sandbox) };
        try {
          return await work({
            read: () => agent.readStream(sandboxId, query, signal),
            async write(content) {
              await agent.write(sandboxId, { ...query, content, createParents: true }, signal);
            },
          });
        } finally {
          leave();
        }
      },
      end,
    );
  }
}

function refused(): SandhavenError {
  const days = limits.preview.signedFileSeconds / 86_400;
  return new SandhavenError('permission_denied', 'This address is not signed, or its time is over.', {
    hint: `Ask for a new one; an address lives ${days} days at most.`,
  });
}
