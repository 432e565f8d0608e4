/** curl in the sandboxes' network namespace, which receives with less processor time than Node and measures itself. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface To {
  /** Path of the network namespace, and the address in it to connect from. */
  namespace: string;
  from: string;
  host: string;
  address: string;
  port: number;
  /** File of the certificate that the client trusts. */
  ca: string;
  protocol: 'h1' | 'h2';
  headers: string[];
}

const run = promisify(execFile);
/** Versions of HTTP as curl writes them. */
const versions = { h1: '1.1', h2: '2' };
const flags = { h1: '--http1.1', h2: '--http2' };

/** Asks for the paths one after the other, on one connection. Returns the milliseconds of each, the connection's among the first's. */
export async function timeRequests(to: To, paths: string[]): Promise<number[]> {
  const { stdout } = await run('nsenter', [
    ...[`--net=${to.namespace}`, 'curl', '-sS', '--noproxy', '*', '--interface', to.from, flags[to.protocol]],
    ...['--cacert', to.ca, '--resolve', `${to.host}:${to.port}:${to.address}`],
    ...to.headers.flatMap((header) => ['-H', header]),
    ...['-w', '%{response_code} %{http_version} %{time_total}\n'],
    ...paths.flatMap((path) => ['-o', '/dev/null', `https://${to.host}:${to.port}${path}`]),
  ]);
  const lines = stdout.trim().split('\n');
  return paths.map((path, at) => {
    const [status, version, seconds] = lines[at]?.split(' ') ?? [];
    if (status !== '200' || version !== versions[to.protocol]) throw new Error(`${path}: ${lines[at]}`);
    return Number(seconds) * 1000;
  });
}
