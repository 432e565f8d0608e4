/** `sandhaven audit`: reads the audit log, follows it, exports it and verifies it. */

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { AuditRowView } from '../../../administration/audit.ts';
import { listAudit, toTableRow, verifyAudit } from '../../../administration/audit.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { limits } from '../../../model/limits.ts';
import { toCallArguments } from '../arguments.ts';
import { type AdminClient, createAdminClient } from '../client.ts';
import { connectionOf } from '../connection.ts';
import { flagIsSet, usageError } from '../flags.ts';
import { commonHelp } from '../help.ts';
import type { CliIo, Command } from '../io.ts';
import { printProblem, render, table } from '../output.ts';

const help = `Usage: sandhaven audit …

  sandhaven audit [--since TIME] [--until TIME] [--user USER] [--team TEAM] [--key KEY]
                  [--action ACTION] [--sandbox SANDBOX] [--outcome OUTCOME] [--limit N]
                  [--after SEQUENCE]
  sandhaven audit --follow [filters]
  sandhaven audit --export FILE [filters]
  sandhaven audit --verify

Shows each call with its user, sandbox, outcome and duration, never its contents. A time is
2026-01-31T12:00:00Z, or an age: 30m, 2h, 7d. An admin sees all rows, a member their own.

  --follow           continue with each new row; reads of the log itself are left out
  --export FILE      every row as a line of JSON, oldest first, into a new file or (-) to standard output
  --verify           check that no row was changed, added or removed; exit with 1 otherwise

${commonHelp}`;

/** @param listed The command for `audit list` and its --help, without any of the flags above. */
export function audit(listed: Command): Command {
  return {
    summary: listed.summary,
    ...(listed.shape ? { shape: listed.shape } : {}),
    async run(argv, io) {
      const { mode, target, rest } = modeOf(argv);
      if (mode === 'help') {
        io.stdout.write(help);
        return 0;
      }
      if (mode === 'list') return listed.run(rest, io);
      if (mode === 'verify') return verify(rest, io);
      const { parameters, flags } = toCallArguments(listAudit, rest);
      const client = createAdminClient(await connectionOf(flags, io));
      if (mode === 'follow') return follow(client, parameters, flagIsSet(flags, 'json'), io);
      return exportTo(target, client, parameters, flagIsSet(flags, 'json'), io);
    },
  };
}

type Mode = 'help' | 'list' | 'verify' | 'follow' | 'export';

function modeOf(argv: string[]): { mode: Mode; target: string; rest: string[] } {
  const [first] = argv;
  if (first === '--help' || first === '-h') return { mode: 'help', target: '', rest: [] };
  if (first === 'verify' && !argv.includes('--help'))
    return { mode: 'verify', target: '', rest: argv.slice(1) };
  const rest: string[] = [];
  const modes = new Set<Mode>();
  let target = '';
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--verify') modes.add('verify');
    else if (word === '--follow' || word === '-f') modes.add('follow');
    else if (word === '--export' || word.startsWith('--export=')) {
      modes.add('export');
      target = word === '--export' ? (argv[++at] ?? '') : word.slice('--export='.length);
      if (target === '')
        throw usageError('--export needs a file.', 'Write --export=FILE, or --export=- for standard output.');
    } else rest.push(word);
  }
  if (modes.size > 1)
    throw usageError(`--${[...modes].join(' and --')} exclude each other.`, 'Give one of them.');
  const [mode = 'list'] = modes;
  if (mode !== 'list' && rest[0] === 'list') rest.shift();
  return { mode, target, rest };
}

async function verify(argv: string[], io: CliIo): Promise<number> {
  const { flags } = toCallArguments(verifyAudit, argv);
  const json = flagIsSet(flags, 'json');
  const client = createAdminClient(await connectionOf(flags, io));
  const { result, problem } = await client(verifyAudit, {}, { signal: io.signal });
  if (problem) return printProblem(problem, json, io);
  if (json) io.stdout.write(`${JSON.stringify(result)}\n`);
  else io.stdout.write(wordsOf(result));
  return result['intact'] === true ? 0 : 1;
}

function wordsOf(report: Record<string, unknown>): string {
  const { faults, ...fields } = report;
  const found = faults as { kind: string; sequence: number; through: number; meaning: string }[];
  const lines = found.map(({ sequence, through, meaning }) => {
    const rows = sequence === through ? `Row ${sequence}` : `Rows ${sequence} to ${through}`;
    return `${rows}: ${meaning}\n`;
  });
  const verdict = fields['intact'] === true ? 'The audit log is intact.' : 'The audit log is NOT intact.';
  return `${verdict}\n${lines.join('')}\n${render(fields)}`;
}

/** Prints the last rows, then each new one, until an interrupt. */
async function follow(
  client: AdminClient,
  parameters: Record<string, unknown>,
  json: boolean,
  io: CliIo,
): Promise<number> {
  let after: unknown = parameters['after'];
  for (let waitSeconds = 0; ; waitSeconds = limits.audit.waitSeconds.max) {
    const asked = { ...parameters, ...(after === undefined ? {} : { after }), wait_seconds: waitSeconds };
    const { result, problem } = await client(listAudit, asked, { signal: io.signal });
    if (problem) return printProblem(problem, json, io);
    const rows = (result['rows'] as AuditRowView[]).filter(({ action }) => action !== listAudit.name);
    after = result['next_after'];
    if (rows.length > 0) io.stdout.write(json ? linesOf(rows) : `${withoutTitle(rows, waitSeconds === 0)}\n`);
  }
}

/** Drops the titles from all but the first rows. */
function withoutTitle(rows: AuditRowView[], first: boolean): string {
  const text = table(rows.map(toTableRow));
  return first ? text : text.slice(text.indexOf('\n') + 1);
}

async function exportTo(
  target: string,
  client: AdminClient,
  parameters: Record<string, unknown>,
  json: boolean,
  io: CliIo,
): Promise<number> {
  const out = target === '-' ? io.stdout : await newFile(target);
  let after: unknown = parameters['after'] ?? 0;
  let written = 0;
  for (let more = true; more; ) {
    const asked = { ...parameters, after, limit: limits.audit.list.max };
    const { result, problem } = await client(listAudit, asked, { signal: io.signal });
    if (problem) {
      // Part of the log must not be mistaken for all of it.
      if (out !== io.stdout) await rm(target, { force: true });
      return printProblem(problem, json, io);
    }
    const rows = result['rows'] as AuditRowView[];
    if (rows.length > 0 && !out.write(linesOf(rows))) await once(out, 'drain');
    written += rows.length;
    after = result['next_after'];
    more = result['has_more'] === true;
  }
  if (out === io.stdout) return 0;
  out.end();
  await once(out, 'finish');
  io.stderr.write(`${written} rows are in ${target}.\n`);
  return 0;
}

/** Never overwrites a file; only the owner can read the new one. */
async function newFile(path: string): Promise<NodeJS.WritableStream> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  try {
    await once(file, 'open');
    return file;
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be made';
    throw new SandhavenError('failed_precondition', `${path} cannot be written: ${why}.`, {
      hint: 'Give the path of a file that does not exist yet.',
    });
  }
}

function linesOf(rows: AuditRowView[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
