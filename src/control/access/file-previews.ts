/**
 * Previews of single files: images and PDFs get an address of a few minutes at the preview gateway, each a site of its own.
 * An address ends with the key that made it, with its user, with the sandbox, and when previews of the sandbox are revoked.
 */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { at } from '../../concurrency/deadline.ts';
import { type Load, Shares } from '../../fairness/shares.ts';
import { invalidArgument, notFound, SandhavenError } from '../../model/errors.ts';
import { limits } from '../../model/limits.ts';
import { type PreviewSite, previewOrigin } from '../../model/network/service-names.ts';
import type { Sandbox } from '../../model/sandbox.ts';
import { type Caller, ownerIdOf } from '../../model/user.ts';
import type { PreviewGrants } from '../audit/preview-grants.ts';
import type { CallerRights } from '../callers/caller-rights.ts';
import type { AgentLink, Clock } from '../ports/index.ts';
import { type SandboxUses, userOf } from '../work/sandbox-uses.ts';
import type { AccessService } from './tokens.ts';

export interface FilePreview {
  url: string;
  mediaType: string;
  expiresAt: number;
}

export interface FileAdmission extends FilePass {
  mediaType: string;
  /** Signature of the pass. */
  token: string;
  /** The pass as it was signed. */
  pass: string;
}

export interface FilePreviewDependencies {
  uses: Pick<SandboxUses, 'run' | 'connected'>;
  agent: Pick<AgentLink, 'stat' | 'readStream'>;
  access: Pick<AccessService, 'fileToken' | 'isFileToken' | 'whileGranted'>;
  callerRights: Pick<CallerRights, 'whileValid' | 'isValid'>;
  grants: Pick<PreviewGrants, 'note'>;
  /** null: no gateway listens. */
  site(): PreviewSite | null;
  clock: Clock;
}

export class FilePreviews {
  readonly #deps: FilePreviewDependencies;
  readonly #requests = new Shares({ ...limits.preview.files.requests, what: 'files are being shown' });

  constructor(dependencies: FilePreviewDependencies) {
    this.#deps = dependencies;
  }

  /** Requests in progress. */
  get load(): Load {
    return this.#requests;
  }

  /** Returns the address of one file of a started sandbox; throws `invalid_argument` for what no preview shows. */
  create(caller: Caller, reference: string, path: string): Promise<FilePreview> {
    const { uses, agent, access, clock } = this.#deps;
    const mediaType = shownTypeOf(path);
    if (mediaType === null) throw notShown('The name of this file ends as no image and no PDF does.');
    return uses.run(caller, reference, async (sandbox) => {
      const site = this.#deps.site();
      if (!site) throw new SandhavenError('unavailable', 'This service has no preview gateway.');
      const { id } = sandbox;
      const { type } = await agent.stat(id, { path, user: userOf(sandbox) });
      if (type !== 'file') throw notShown('Only a file has a preview.');
      const longest = clock.now() + limits.preview.files.seconds * 1_000;
      const expiresAt = Math.min(longest, caller.keyExpiresAt ?? longest);
      const whose = { ownerId: ownerIdOf(caller), userId: caller.id, keyId: caller.keyId };
      const pass = writePass({ sandboxId: id, path, ...whose, expiresAt });
      const token = await access.fileToken(id, pass);
      return { url: `${previewOrigin(site, `file-${token}`)}/${pass}`, mediaType, expiresAt };
    });
  }

  /** Returns null for an address that was never given, or whose time, key or user has ended. */
  async admit(token: string, pass: string): Promise<FileAdmission | null> {
    const { access, callerRights, clock } = this.#deps;
    const read = readPass(pass);
    if (!read || !(await access.isFileToken(read.sandboxId, pass, token))) return null;
    const mediaType = shownTypeOf(read.path);
    if (mediaType === null || read.expiresAt <= clock.now()) return null;
    if (!(await callerRights.isValid({ id: read.userId, keyId: read.keyId }))) return null;
    return { ...read, mediaType, token, pass };
  }

  /** Opens the file as a use of the sandbox, and calls `expire` when the admission ends before `work`. */
  async visit(
    admission: FileAdmission,
    { address, signal, expire }: { address: string | null; signal: AbortSignal; expire(): void },
    work: (bytes: Readable) => Promise<void>,
  ): Promise<void> {
    const { uses, agent, grants } = this.#deps;
    const { sandboxId, path, keyId } = admission;
    let over = false;
    const end = () => {
      over = true;
      expire();
    };
    const stop = this.#watch(admission, end);
    const entered = async (sandbox: Pick<Sandbox, 'ownerId' | 'user'>) => {
      const { ownerId } = sandbox;
      if (ownerId !== admission.ownerId) throw notFound('sandbox', 'There is no such sandbox.');
      // The admission may end while the visit waits for an operation on the sandbox, or have ended at another replica before
      // this one watched it.
      if (!(await this.admit(admission.token, admission.pass))) end();
      if (over) return;
      const leave = this.#requests.take(ownerId);
      try {
        grants.note({ sandboxId, ownerId, port: null, tokenId: keyId, address });
        const { stream } = await agent.readStream(sandboxId, { path, user: userOf(sandbox) }, signal);
        await work(stream).finally(() => stream.destroy());
      } finally {
        leave();
      }
    };
    try {
      await uses.connected(sandboxId, entered, end);
    } finally {
      stop();
    }
  }

  #watch({ sandboxId, userId, keyId, expiresAt, token, pass }: FileAdmission, end: () => void): () => void {
    const { access, callerRights, clock } = this.#deps;
    const holds = () => access.isFileToken(sandboxId, pass, token);
    const stops = [
      at(clock, expiresAt, end),
      access.whileGranted('preview', sandboxId, end, { name: token, holds }),
      callerRights.whileValid({ id: userId, keyId, keyExpiresAt: null }, end),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }
}

function notShown(message: string): SandhavenError {
  return invalidArgument('path', message, 'Download it instead: GET /v1/sandboxes/{sandbox}/files.');
}

const NONCE_BYTES = 12;

/**
 * Pass to one file: says in the path of an address which file it is, for whom, and until when. The name of the host
 * holds its signature, so neither part opens anything alone.
 */
interface FilePass {
  sandboxId: string;
  path: string;
  /** Owner of the sandbox: the user, or a team that the user acts for. */
  ownerId: string;
  userId: string;
  keyId: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
}

/** Returns the text of the pass, which no two passes have in common. */
function writePass({ sandboxId, path, ownerId, userId, keyId, expiresAt }: FilePass): string {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const fields = [sandboxId, path, ownerId, userId, keyId, expiresAt, nonce];
  return Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** Returns null for what is no pass. The signature is not looked at. */
function readPass(text: string): FilePass | null {
  const [sandboxId, path, ownerId, userId, keyId, expiresAt] = fieldsOf(text);
  const texts = [sandboxId, path, ownerId, userId, keyId];
  if (!texts.every((value) => typeof value === 'string') || typeof expiresAt !== 'number') return null;
  return { sandboxId, path, ownerId, userId, keyId, expiresAt } as FilePass;
}

function fieldsOf(text: string): unknown[] {
  try {
    const fields: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(fields) ? fields : [];
  } catch {
    return [];
  }
}

/**
 * Media types of the files that a preview shows, by the endings of their names. Contents never choose one: HTML in a file
 * named .png is a broken image.
 */
const types: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  bmp: 'image/bmp',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
};

/** Returns null for a file that is no image and no PDF by its name. */
export function shownTypeOf(path: string): string | null {
  const ending = /[^/.]\.([^/.]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(types, ending) ? (types[ending] ?? null) : null;
}
