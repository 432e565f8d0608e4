/**
 * Access of the preview gateway: admits visitors to a sandbox's port for a limited time and opens connections to it.
 */
import type { Duplex } from 'node:stream';
import { at } from '../../concurrency/deadline.ts';
import { type Load, Shares } from '../../fairness/shares.ts';
import { limits } from '../../model/limits.ts';
import { networkOf } from '../../model/network/arrival.ts';
import type { PreviewGrants } from '../audit/preview-grants.ts';
import type { Right } from '../callers/caller-rights.ts';
import type { AgentLink, Clock } from '../ports/index.ts';
import type { SandboxUses } from '../work/sandbox-uses.ts';
import type { AccessService } from './tokens.ts';

export interface Admission {
  sandboxId: string;
  port: number;
  /** null: the sandbox's own token of that port; `public`: none, as the port is open to everybody. */
  tokenId: string | null;
  /** null: for the lifetime of the sandbox. */
  expiresAt: number | null;
  right: Right;
}

const PUBLIC = 'public';

export interface PreviewAccessDependencies {
  access: AccessService;
  uses: SandboxUses;
  agent: AgentLink;
  grants: Pick<PreviewGrants, 'note'>;
  clock: Clock;
  /** true: ports may be open to everybody. */
  mayBePublic?: boolean;
}

export class PreviewAccess {
  readonly #deps: PreviewAccessDependencies;
  readonly #requests = new Shares({
    total: limits.preview.requests,
    perOwner: limits.preview.requestsPerOwner,
    what: 'preview requests are in progress',
  });

  /** Of visitors without a token, by their network. */
  readonly #strangers = new Shares({
    ...limits.preview.publicRequests,
    what: 'requests to public ports are in progress',
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

  /** Returns null for a port that is not open to everybody. */
  async admitPublic(sandboxId: string, port: number): Promise<Admission | null> {
    const right = this.#deps.access.rightOfPublic(sandboxId, port);
    if (!this.#deps.mayBePublic || !(await right.holds())) return null;
    return { sandboxId, port, tokenId: PUBLIC, expiresAt: null, right };
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
    const isPublic = tokenId === PUBLIC;
    const leaveNetwork = isPublic ? this.#strangers.take(networkOf(address ?? '')) : () => {};
    let over = false;
    const end = () => {
      over = true;
      expire();
    };
    const stopExpiry = expiresAt === null ? () => {} : at(this.#deps.clock, expiresAt, end);
    const kind = isPublic ? 'public' : 'preview';
    const stopRevocation = this.#deps.access.whileGranted(kind, sandboxId, end, right);
    try {
      const entered = async ({ ownerId }: { ownerId: string | null }) => {
        // The admission may end while the visit waits for an operation on the sandbox.
        if (over) return;
        const leave = this.#requests.take(ownerId ?? '');
        try {
          // One row for all strangers, or each could fill the log.
          this.#deps.grants.note({ sandboxId, ownerId, port, tokenId, address: isPublic ? null : address });
          await work();
        } finally {
          leave();
        }
      };
      await this.#deps.uses.connected(sandboxId, entered, end);
    } finally {
      stopExpiry();
      stopRevocation();
      leaveNetwork();
    }
  }

  connect(sandboxId: string, port: number, signal: AbortSignal): Promise<Duplex> {
    return this.#deps.agent.connectPort(sandboxId, port, signal);
  }
}
