/** A sandbox's SFTP server on standard input and output, as clients start it: `sftp-bridge.ts REACH.json SANDBOX`. */
import { readFileSync } from 'node:fs';
import { createAgentLink } from '../../../src/agent-link/agent-link.ts';
import { channelsTo } from '../reach.ts';

const [reach = '', id = ''] = process.argv.slice(2);
const agent = createAgentLink({ openChannel: channelsTo(JSON.parse(readFileSync(reach, 'utf8'))) });
const server = await agent.openSftp(id);
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
server.stderr.pipe(process.stderr);
process.exitCode = (await server.ended).exitCode;
process.stdin.destroy();
