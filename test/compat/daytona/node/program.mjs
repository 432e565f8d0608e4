/**
 * One generation of Daytona's client for Node, unmodified, by every group of its calls:
 *   node program.mjs VERSION, with DAYTONA_API_URL and DAYTONA_API_KEY
 */
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { controlSteps, endSteps } from './control.mjs';
import { fileSteps } from './files.mjs';
import { gitSteps } from './git.mjs';
import { processSteps } from './process.mjs';
import { sessionSteps } from './sessions.mjs';
import { runSteps } from './steps.mjs';
import { terminalSteps } from './terminals.mjs';

const version = process.argv[2];
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sandhaven/compat-clients');
const sdk = createRequire(join(cache, 'package.json'))(`daytona-${version}`);
const daytona = new sdk.Daytona();
const client = { sdk, version, daytona, sandbox: null };

await runSteps(
  [
    ...controlSteps,
    ...fileSteps,
    ...processSteps,
    ...sessionSteps,
    ...terminalSteps,
    ...gitSteps,
    ...endSteps,
  ],
  client,
);
// Newer clients hold a connection for events open.
process.exit();
