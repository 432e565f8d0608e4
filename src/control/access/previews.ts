/** Listening ports of a sandbox, and their addresses at the preview gateway. */
import { SandhavenError } from '../../model/errors.ts';
import { type PreviewSite, previewOrigin } from '../../model/network/public-site.ts';
import type { User } from '../../model/user.ts';
import type { AgentLink, Clock, ListeningPort } from '../ports/index.ts';
import type { Uses } from '../work/use.ts';
import type { AccessService } from './tokens.ts';

export interface Preview {
  url: string;
  /** null when the URL contains it. */
  token: string | null;
  expiresAt: number | null;
}

export interface PreviewDependencies {
  uses: Uses;
  agent: AgentLink;
  access: AccessService;
  clock: Clock;
}

export class PreviewService {
  readonly #d: PreviewDependencies;
  #site: PreviewSite | null = null;

  constructor(dependencies: PreviewDependencies) {
    this.#d = dependencies;
  }

  /** Called once the gateway listens. */
  servedAt(site: PreviewSite): void {
    this.#site = site;
  }

  /** null until the gateway listens. */
  get site(): PreviewSite | null {
    return this.#site;
  }

  ports(caller: User, reference: string | undefined, signal?: AbortSignal): Promise<ListeningPort[]> {
    return this.#d.uses.run(caller, reference, ({ id }) => this.#d.agent.ports(id, signal));
  }

  /**
   * Returns the preview of a port of a started sandbox, with or without a listener. Each signed preview has a token of
   * its own.
   */
  async preview(
    caller: User,
    reference: string,
    port: number,
    signedForSeconds: number | null,
  ): Promise<Preview> {
    const { uses, access, clock } = this.#d;
    return uses.run(caller, reference, async ({ id }) => {
      const site = this.#site;
      if (!site) throw new SandhavenError('unavailable', 'This service has no preview gateway.');
      const urlOf = (name: string) => `${previewOrigin(site, `${port}-${name}`)}/`;
      if (signedForSeconds === null) {
        const token = await access.previewToken(id, port);
        return { url: urlOf(id.replace(/^sb_/, '')), token, expiresAt: null };
      }
      const expiresAt = clock.now() + signedForSeconds * 1_000;
      const { token } = await access.mint(id, 'preview', { port, expiresAt });
      return { url: urlOf(token), token: null, expiresAt };
    });
  }
}
