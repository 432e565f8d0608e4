/** The control layer as a service has it, over a host and a store in memory that outlive it. */
import { wire } from '../../../src/app/wiring.ts';
import { AccessService } from '../../../src/control/access/tokens.ts';
import type { AgentLink, CodeHost, MachineSleep, Store } from '../../../src/control/ports/index.ts';
import { unlimited } from '../../../src/model/quota.ts';
import { createFakeAgent } from '../../simulation/host/fake-agent.ts';
import { MemoryHost } from '../../simulation/host/memory-host.ts';
import { createMemoryImages } from '../../simulation/host/memory-images.ts';
import { createMemoryRuntime } from '../../simulation/host/memory-runtime.ts';
import { alice } from '../../store/fixtures.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { fakeAudit } from '../../surfaces/fakes/fake-audit.ts';

type Options = Partial<Parameters<typeof wire>[1]>;
export type Control = ReturnType<typeof wire>;

export class Installation {
  readonly host = new MemoryHost();
  readonly store: Store = memoryStore();
  readonly audit = fakeAudit().audit;
  /** The code-hosting provider, for services that are opened from then on. */
  codeHost: CodeHost | null = null;
  /** Of the engine, for services that are opened from then on; null where it cannot freeze. */
  sleep: MachineSleep | null = null;
  /** Work inside that the agent is asked for. */
  idleMs: () => number | null = () => null;
  /** Rejects where the engine fails. */
  point: (label: string) => Promise<void> = async () => {};

  async enrol(): Promise<void> {
    await this.store.users.insertUser(alice);
  }

  /** Wires a service. The engine has no policy in force until one is set. */
  open(options: Options = {}): Control {
    const { host, store, audit } = this;
    host.networks.clear();
    const point = (label: string) => this.point(label);
    const engine = {
      runtime: { ...createMemoryRuntime({ host, point }), ...(this.sleep ? { sleep: this.sleep } : {}) },
      images: createMemoryImages({ host, clock: Date, point: async () => {} }),
      agent: createFakeAgent({
        host,
        point,
        answer: async () => {},
        idleMs: () => this.idleMs(),
      }) as AgentLink,
      remoteArchives: null,
    };
    const access = new AccessService({
      ...{ tokens: store.accessTokens, clock: Date, previewKey: Buffer.alloc(32) },
    });
    return wire(
      {
        ...{ store, access, documents: null, host: this.codeHost, audit, memberQuota: unlimited },
        ...{ challengeKey: Buffer.alloc(32), engine: engine as Parameters<typeof wire>[0]['engine'] },
      },
      {
        ...{ dataDir: '', warmPool: { min: 0, max: 0 }, imageKeptMinutes: 60, auditKeptDays: 0 },
        ...{ apiKey: undefined, clock: Date, log: { info() {}, warn() {}, error() {} } },
        ...options,
      },
    );
  }

  /** Names what is in force for a sandbox: its rules, or its mode; null when nothing is. */
  inForce(id: string): string | null {
    const policy = this.host.networks.get(id);
    if (!policy) return null;
    return policy.mode === 'rules' ? policy.rules.map(({ text }) => text).join(' ') : policy.mode;
  }
}

export const rulesOf = (...allow: string[]) => ({ mode: 'rules' as const, profiles: [], allow });
