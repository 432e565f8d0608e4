/** Rules in the compiled form that the egress program gets, of plain texts: enough for tests, and no check of them. */

export interface CompiledRule {
  text: string;
  protocol: string;
  host: string | null;
  address: string | null;
  ports: [number, number] | null;
  methods: string[];
  path: string | null;
}

const standardPorts: Record<string, number> = { https: 443, http: 80 };

export function compileRule(text: string): CompiledRule {
  const pattern =
    /^(?:(?<methods>[A-Z,]+) )?(?<protocol>\w+):\/\/(?<target>[^:/]+(?:\/\d+)?)(?::(?<port>\d+))?(?<path>\/.*)?$/;
  const { methods, protocol = '', target = '', port, path } = pattern.exec(text)?.groups ?? {};
  const isAddress = /^[\d./]+$/.test(target);
  const number = Number(port ?? standardPorts[protocol]);
  return {
    text,
    protocol,
    host: isAddress ? null : target,
    address: isAddress ? (target.includes('/') ? target : `${target}/32`) : null,
    ports: [number, number],
    methods: methods?.split(',') ?? [],
    path: path ?? null,
  };
}
