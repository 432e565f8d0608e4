/** A sandbox's SFTP server on standard input and output, as clients start it: `sftp-bridge.ts SOCKET SANDBOX`. */
import { connect } from 'node:net';
import { createAgentLink } from '../../../src/agent-link/agent-link.ts';

const [socketPath = '', id = ''] = process.argv.slice(2);
const agent = createAgentLink({ openChannel: async () => connect(socketPath) });
const server = await agent.openSftp(id);
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
server.stderr.pipe(process.stderr);
process.exitCode = (await server.ended).exitCode;
process.stdin.destroy();
