/**
 * Parses a Host header into the preview that it names. Each sandbox and port is a site of its own:
 * `{port}-{id without sb_}.{domain}` for a standard one, `{port}-{token}.{domain}` for a signed one, and each file
 * `file-{token}.{domain}`.
 */
export type PreviewAddress =
  | { kind: 'standard'; port: number; sandboxId: string }
  | { kind: 'signed'; port: number; token: string }
  /** One file, which the path names. */
  | { kind: 'file'; token: string };

const FILE_LABEL = /^file-([a-z2-7]{26})$/;
const LABEL = /^([1-9]\d{0,4})-(?:([0-9a-z]{16})|([a-z2-7]{26}))$/;
const PORT_MAX = 65_535;

/** Returns `foreign` for a host outside the domain, `unknown` for one inside it that can be no preview. */
export function previewAddress(
  host: string | undefined,
  domain: string,
): PreviewAddress | 'foreign' | 'unknown' {
  const name = host?.toLowerCase().replace(/:\d{1,5}$/, '') ?? '';
  if (!name.endsWith(`.${domain}`)) return 'foreign';
  const label = name.slice(0, -domain.length - 1);
  const [, fileToken] = FILE_LABEL.exec(label) ?? [];
  if (fileToken !== undefined) return { kind: 'file', token: fileToken };
  const [, number, id, token] = LABEL.exec(label) ?? [];
  const port = Number(number);
  if (port > PORT_MAX) return 'unknown';
  if (id !== undefined) return { kind: 'standard', port, sandboxId: `sb_${id}` };
  return token === undefined ? 'unknown' : { kind: 'signed', port, token };
}
