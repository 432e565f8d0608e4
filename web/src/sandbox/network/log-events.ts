/** Events of a sandbox's network log, as the page gathers and explains them. */
import type { NetworkLogEvent, NetworkLogPiece } from '@sandhaven/sdk';
import type { NetworkLog } from '../../service/records.ts';

/** Adds events that came since, each once, and keeps the newest. */
export function withPiece(
  log: NetworkLog,
  { events, dropped }: Pick<NetworkLogPiece, 'events' | 'dropped'>,
  { refused, most }: { refused: boolean; most: number },
): NetworkLog {
  const newest = log.events.at(-1)?.sequence ?? 0;
  const wanted = events.filter(({ sequence, allowed }) => sequence > newest && !(refused && allowed));
  return { events: [...log.events, ...wanted].slice(-most), dropped: log.dropped + dropped };
}

/** Adds to an answer what the stream has brought while it was on its way. */
export function withShown(
  log: NetworkLog,
  shown: NetworkLog | undefined,
  bounds: { refused: boolean; most: number },
): NetworkLog {
  if (!shown) return log;
  const { events } = withPiece(log, { events: shown.events, dropped: 0 }, bounds);
  return { events, dropped: Math.max(log.dropped, shown.dropped) };
}

/** Returns the rule that would allow a connection that no rule allows; null where no rule would allow it. */
export function missingRule({ allowed, why, kind, name, address, port }: NetworkLogEvent): string | null {
  if (allowed || !why?.includes('no rule')) return null;
  if (kind === 'dns') return name;
  if (kind === 'icmp') return address && `icmp://${address}`;
  if (kind === 'tcp' || kind === 'udp')
    return address && port !== null ? `${kind}://${address}:${port}` : null;
  const scheme = kind === 'http' ? 'http' : 'https';
  const host = name ?? address;
  const isUsual = port === null || port === (scheme === 'http' ? 80 : 443);
  return host && `${scheme}://${host}${isUsual ? '' : `:${port}`}`;
}
