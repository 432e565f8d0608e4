/**
 * Access of the preview gateway: admits visitors to a sandbox's port for a limited time and opens connections to it.
 */
import type { Duplex } from 'node:stream';
import { at } from '../../concurrency/deadline.ts';
import { type Load, Shares } from '../../fairness/shares.ts';
import { limits } from '../../model/limits.ts';
import type { PreviewGrants } from '../audit/preview-grants.ts';
import type { Right } from '../callers/caller-rights.ts';
import type { AgentLink, Clock } from '../ports/index.ts';
import type { SandboxUses } from '../work/sandbox-uses.ts';
import type { AccessService } from './tokens.ts';

export interface Admission {
  sandboxId: string;
  port: number;
  /** null: the sandbox's own token of that port. */
  tokenId: string | null;
  /** null: for the lifetime of the sandbox. */
  expiresAt: number | null;
  right: Right;
}

export interface PreviewAccessDependencies {
  access: AccessService;
  uses: SandboxUses;
  agent: AgentLink;
  grants: Pick<PreviewGrants, 'note'>;
  clock: Clock;
}

export class PreviewAccess {
  readonly #deps: PreviewAccessDependencies;
  readonly #requests = new Shares({
    total: limits.preview.requests,
    perOwner: limits.preview.requestsPerOwner,
    what: 'preview requests are in progress',
  });

  constructor(dependencies: PreviewAccessDependencies) {
    this.#deps = dependencies;
  }

  /** Requests in progress. */
  get load(): Load {
    return this.#requests;
  }

  async admitSigned(port: number, token: string): Promise<Admission | null> {
    const found = await this.#deps.access.check('preview', token);
    if (found?.port !== port) return null;
    const { sandboxId, id: tokenId, expiresAt } = found;
    return { sandboxId, port, tokenId, expiresAt, right: this.#deps.access.rightOf(found) };
  }

  async admitStandard(sandboxId: string, port: number, token: string): Promise<Admission | null> {
    if (!(await this.#deps.access.isPreviewToken(sandboxId, port, token))) return null;
    const right = this.#deps.access.rightOfPreview(sandboxId, port, token);
    return { sandboxId, port, tokenId: null, expiresAt: null, right };
  }

  /**
   * Runs `work` as a use of the sandbox, and `expire` when the admission ends before it, previews are revoked, or the
   * owner is disabled. A sandbox that is stopped or deleted meanwhile takes its connections with it.
   */
  async visit(
    admission: Admission,
    address: string | null,
    expire: () => void,
    work: () => Promise<void>,
  ): Promise<void> {
    const { sandboxId, port, tokenId, expiresAt, right } = admission;
    let over = false;
    const end = () => {
      over = true;
      expire();
    };
    const stopExpiry = expiresAt === null ? () => {} : at(this.#deps.clock, expiresAt, end);
    const stopRevocation = this.#deps.access.whileGranted('preview', sandboxId, end, right);
    try {
      const entered = async ({ ownerId }: { ownerId: string | null }) => {
        // The admission may end while the visit waits for an operation on the sandbox.
        if (over) return;
        const leave = this.#requests.take(ownerId ?? '');
        try {
          this.#deps.grants.note({ sandboxId, ownerId, port, tokenId, address });
          await work();
        } finally {
          leave();
        }
      };
      await this.#deps.uses.connected(sandboxId, entered, end);
    } finally {
      stopExpiry();
      stopRevocation();
    }
  }

  connect(sandboxId: string, port: number, signal: AbortSignal): Promise<Duplex> {
    return this.#deps.agent.connectPort(sandboxId, port, signal);
  }
}
