#!/usr/bin/env node
/** `sandhaven` on a computer that has no service of its own: all commands that need nothing but one's address and key. */
import { version } from '../../../src/home.ts';
import { runCli } from '../../../src/surfaces/cli/commands/cli.ts';
import { processIo } from '../../../src/surfaces/cli/io.ts';

process.exitCode = await runCli(process.argv.slice(2), processIo(), { version });
