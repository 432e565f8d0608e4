/** Addresses of listeners, as `host:port`. */
import { invalidArgument } from '../../model/errors.ts';
import type { FlagContext } from './flag.ts';

export interface Address {
  host: string;
  port: number;
}

/** Address of a gateway. An unchosen one falls back to a free port when another service has it. */
export interface GatewayAddress extends Address {
  chosen: boolean;
}

export function parseAddress(text: string, { flag }: Pick<FlagContext, 'flag'>): Address {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  if (!host || port > 65_535) {
    throw invalidArgument(
      flag,
      `${flag} must be host:port, and '${text}' was given.`,
      'For example 127.0.0.1:7420.',
    );
  }
  return { host, port };
}

export function parseGatewayAddress(text: string, context: FlagContext): GatewayAddress {
  return { ...parseAddress(text, context), chosen: context.chosen };
}
