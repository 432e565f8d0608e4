/** Clients that create, write to, stop, archive and delete sandboxes, and remember what they were answered. */
import { createHash } from 'node:crypto';
import { between, bytesFrom, type Random } from '../../support/random.ts';
import { type Answer, call } from '../../support/service.ts';

type Api = { url: string; apiKey: string };

/** A sandbox as callers know it: by answers alone. */
export interface Known {
  id: string;
  /** Digests of the contents whose durable writes were acknowledged. */
  files: Map<string, string>;
  /** A deletion that was asked for may have happened. */
  deleteRequested: boolean;
  /** An answer said that it has. */
  deleted: boolean;
}

export interface Churn {
  /** All that were ever acknowledged. */
  known: Known[];
  /** Works until the service is gone. */
  work(service: Api): Promise<void>;
}

const NAMES = ['ada', 'bo', 'cy'];
const FILE_BYTES = 20_000;
const SIZES = { cpu: 1, memory_gb: 1, disk_gb: 1 };

export function createChurn(random: Random): Churn {
  const known: Known[] = [];
  /** By name, what each client works with. */
  const current = new Map<string, Known>();

  async function operate(service: Api, name: string): Promise<void> {
    const record = current.get(name);
    if (!record) return create(service, name);
    const dice = between(random, 0, 100);
    const tell = (tool: string) => call(service, tool, { sandbox: record.id });
    if (dice < 40) return write(service, record);
    if (dice < 60) return notInternal(await tell('ArchiveSandbox'));
    if (dice < 70) return notInternal(await tell('StopSandbox'));
    if (dice < 85) return notInternal(await tell('StartSandbox'));
    record.deleteRequested = true;
    const answer = await tell('DeleteSandbox');
    notInternal(answer);
    record.deleted = answer.status === 200;
    // Gone already where the answer to an earlier deletion was cut off.
    if (record.deleted || answer.status === 404) current.delete(name);
  }

  /** A sandbox may be there whose creation was not answered any more. */
  async function create(service: Api, name: string): Promise<void> {
    const made = await call(service, 'CreateSandbox', { name, ...SIZES });
    notInternal(made);
    const answer = made.status === 409 ? await call(service, 'GetSandbox', { sandbox: name }) : made;
    if (answer.status !== 200) return;
    const record = {
      id: String(answer.body['id']),
      files: new Map(),
      deleteRequested: false,
      deleted: false,
    };
    known.push(record);
    current.set(name, record);
  }

  async function write(service: Api, record: Known): Promise<void> {
    const content = bytesFrom(random, between(random, 1, FILE_BYTES)).toString('base64');
    const path = `file-${between(random, 0, 1_000_000)}`;
    const answer = await call(service, 'WriteFile', { sandbox: record.id, path, content, durable: true });
    notInternal(answer);
    if (answer.status === 200) record.files.set(path, createHash('sha256').update(content).digest('hex'));
  }

  return {
    known,
    async work(service) {
      const client = async (name: string) => {
        for (;;) await operate(service, name);
      };
      const ends = await Promise.allSettled(NAMES.map(client));
      for (const end of ends) {
        // A connection that ends is fetch's TypeError.
        if (end.status === 'rejected' && !(end.reason instanceof TypeError)) throw end.reason;
      }
    },
  };
}

function notInternal({ status, body }: Answer): void {
  if (status === 500) throw new Error(JSON.stringify(body));
}
