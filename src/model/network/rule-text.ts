/** Network rules as people write them: `[METHOD[,METHOD] ]PROTOCOL://TARGET[:PORT[-PORT]][/PATH]`. */
import { invalidArgument } from '../errors.ts';
import { limits } from '../limits.ts';
import { parseHostPattern } from './host-pattern.ts';
import { type NetworkProtocol, type NetworkRule, networkProtocols } from './policy.ts';
import { formatAddressRange, overlapsBlocked, parseAddressRange } from './public-addresses.ts';

/** A rule as it is kept and shown, and its meaning: two rules for a name without a protocol, else one. */
export interface ParsedRule {
  text: string;
  rules: NetworkRule[];
}

type Parts = Omit<NetworkRule, 'text'>;
type Target = Pick<NetworkRule, 'host' | 'address'>;

const EXAMPLES = 'For example https://api.example.com, GET http://example.com/files or tcp://203.0.113.7:22.';
const ALL_PORTS: [number, number] = [1, 65_535];
const FORM = /^(?:(\S+) +)?([A-Za-z]+):\/\/(\d[\d.]*\/\d+(?=[:/]|$)|[^/:]+|\[[^/]*)(?::([\d-]*))?(\/.*)?$/s;

/** Throws `invalid_argument` naming the parameter. Says nothing about public suffixes: see `assertNoPublicSuffix`. */
export function parseRule(parameter: string, given: string): ParsedRule {
  const text = given.trim();
  if (text.length > limits.network.ruleChars) {
    throw invalidArgument(parameter, `A rule has at most ${limits.network.ruleChars} characters.`);
  }
  if (!text.includes('://')) return parseBare(parameter, text);
  const [, methods, scheme = '', target = '', ports, path] = FORM.exec(text) ?? [];
  const protocol = networkProtocols.find((known) => known === scheme.toLowerCase());
  if (protocol === undefined) {
    throw invalidArgument(
      parameter,
      `'${text}' is no network rule: it takes one of ${networkProtocols.join(', ')}.`,
      EXAMPLES,
    );
  }
  if (protocol !== 'http' && (methods !== undefined || path !== undefined)) {
    throw invalidArgument(
      parameter,
      `The rule '${text}' has a method or a path, and ${protocol} shows none.`,
      'Methods and paths are for http:// alone: https is not opened. Leave them out.',
    );
  }
  const aim = parseTarget(parameter, target);
  const rule = withText({
    protocol,
    ...aim,
    ports: parsePorts(parameter, text, protocol, aim, ports),
    methods: methods === undefined ? [] : parseMethods(parameter, methods),
    path: path === undefined ? null : parsePath(parameter, path),
  });
  return { text: rule.text, rules: [rule] };
}

/** Completes a rule with its text, which `parseRule` parses to it. */
export function withText(parts: Parts): NetworkRule {
  return { text: formatRule(parts), ...parts };
}

function formatRule({ protocol, host, address, ports, methods, path }: Parts): string {
  const target = host ?? address?.replace(/\/32$/, '') ?? '';
  const usual = defaultPorts(protocol, { host, address });
  const isUsual = ports === null || (usual?.[0] === ports[0] && usual[1] === ports[1]);
  // A path behind an address could be the length of its prefix.
  const port = isUsual && !(address !== null && path !== null) ? '' : `:${formatPorts(ports)}`;
  return `${methods.length > 0 ? `${methods.join(',')} ` : ''}${protocol}://${target}${port}${path ?? ''}`;
}

function formatPorts(ports: [number, number] | null): string {
  if (ports === null) return '';
  return ports[0] === ports[1] ? String(ports[0]) : ports.join('-');
}

/** A name alone: its sites, by https and http. */
function parseBare(parameter: string, text: string): ParsedRule {
  if (/[\s:/]/.test(text) || parseAddressRange(text) !== null) {
    throw invalidArgument(parameter, `The rule '${text}' has no protocol.`, EXAMPLES);
  }
  const host = parseHostPattern(parameter, text);
  const rules = (['https', 'http'] as const).map((protocol) => {
    const aim = { host, address: null };
    return withText({ protocol, ...aim, ports: defaultPorts(protocol, aim), methods: [], path: null });
  });
  return { text: host, rules };
}

function parseTarget(parameter: string, text: string): Target {
  const range = parseAddressRange(text);
  if (range === null) return { host: parseHostPattern(parameter, text), address: null };
  if (!overlapsBlocked(range)) return { host: null, address: formatAddressRange(range) };
  throw invalidArgument(
    parameter,
    `'${text}' has addresses that no sandbox may reach: private ones, and others that are not public.`,
    'Write a range of public addresses.',
  );
}

function parsePorts(
  parameter: string,
  rule: string,
  protocol: NetworkProtocol,
  target: Target,
  text: string | undefined,
): [number, number] | null {
  if (target.host !== null && (protocol === 'udp' || protocol === 'icmp')) {
    throw invalidArgument(
      parameter,
      `The rule '${rule}' names a host, and ${protocol} takes addresses alone.`,
      `For example ${protocol}://203.0.113.7${protocol === 'udp' ? ':123' : ''}.`,
    );
  }
  if (protocol === 'icmp') {
    if (text === undefined) return null;
    throw invalidArgument(parameter, `The rule '${rule}' has a port, and icmp has none.`);
  }
  const usual = defaultPorts(protocol, target);
  if (text === undefined && usual !== null) return usual;
  const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text ?? '') ?? [];
  const ports: [number, number] = [Number(first), Number(last)];
  if (ports[0] >= 1 && ports[0] <= ports[1] && ports[1] <= 65_535) return ports;
  throw invalidArgument(
    parameter,
    `The rule '${rule}' needs a port from 1 to 65535, or a range of them.`,
    `For example ${protocol}://${target.host ?? '203.0.113.7'}:8000-8100.`,
  );
}

/** null where a rule has to name them, or has none. */
function defaultPorts(protocol: NetworkProtocol, { host }: Target): [number, number] | null {
  if (protocol === 'https') return [443, 443];
  if (protocol === 'http') return [80, 80];
  return protocol === 'tcp' && host === null ? ALL_PORTS : null;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Z-]+$/;
/** Characters that a path has unencoded (RFC 3986), without the comma, which is between rules in a list. */
const SEGMENT = /^[A-Za-z0-9._~!$&'()*+;=:@-]+$/;

/** Parses `GET,HEAD`, in any case; returns each once, sorted. Throws `invalid_argument` naming the parameter. */
export function parseMethods(parameter: string, text: string): string[] {
  const methods = text.toUpperCase().split(',');
  const wrong = methods.find((method) => !TOKEN.test(method));
  if (wrong !== undefined) {
    throw invalidArgument(
      parameter,
      `'${wrong}' is no method of HTTP.`,
      'For example GET,HEAD http://example.com.',
    );
  }
  if (methods.includes('CONNECT')) {
    throw invalidArgument(
      parameter,
      'CONNECT is refused always: nothing behind it could be checked.',
      'Allow the host that the connection goes to by a rule of its own.',
    );
  }
  return [...new Set(methods)].toSorted();
}

/** Parses a prefix; null for `/`, which is every path. A slash at its end has no meaning. Throws `invalid_argument`. */
export function parsePath(parameter: string, text: string): string | null {
  const path = text.replace(/\/$/, '');
  if (path === '') return null;
  const segments = path.slice(1).split('/');
  const wrong = segments.find((segment) => segment === '.' || segment === '..' || !SEGMENT.test(segment));
  if (wrong === undefined) return path;
  throw invalidArgument(
    parameter,
    `The path '${text}' cannot be a prefix: '${wrong}' is no plain segment.`,
    'Write segments without %, ?, #, commas and spaces, none of them empty, . or ..; a shorter prefix allows all below it.',
  );
}
