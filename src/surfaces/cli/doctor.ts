/**
 * `sandhaven doctor`: whether this machine can run sandboxes safely, and what to do where it cannot. It reads
 * and starts nothing but `--version` of programs. Exit status 1 when a check fails.
 */
import { parseArgs } from 'node:util';
import { DEFAULT_DATA_DIR } from './connection.ts';
import { certificateChecks } from './doctor-certificate.ts';
import { documentChecks } from './doctor-documents.ts';
import { engineChecks } from './doctor-engine.ts';
import { gpuCheck } from './doctor-gpus.ts';
import { hostChecks } from './doctor-host.ts';
import { roomChecks } from './doctor-room.ts';
import { usageError } from './flags.ts';
import type { CliIo } from './io.ts';
import { printable } from './render.ts';

export interface Finding {
  status: 'ok' | 'warn' | 'fail';
  /** What was seen. */
  found: string;
  /** What to do about it; absent when all is well. */
  advice?: string;
}

export interface Check {
  name: string;
  run(): Promise<Finding>;
}

/** What the composition knows of the engine, as a surface may not. */
export interface DoctorFacts {
  /** `host:port` of each address that `up` listens on, as it is set now. */
  addresses: string[];
  /** What a program prints when it succeeds; null otherwise. */
  tryProgram(path: string, args: string[]): Promise<string | null>;
  /** The runc that the engine uses. */
  runcPath: string;
  /** null when the output is not that of `runc --version`. */
  judgeRunc(output: string): { version: string; vulnerable: boolean } | null;
  /** The programs that `make build` makes. */
  builtPrograms: string[];
  /** What this host has to hand out, as the service sees it. */
  examineGpus(): Promise<{
    kind: string;
    names: string[];
    held: number;
    problems: string[];
    /** What specifications ask for and nobody gets. */
    leftOut: string[];
  }>;
  /** In the cache; null when there is none. */
  readBaseImage(): Promise<{ digest: string; sizeBytes: number } | null>;
  /** The listeners' certificate, judged; absent: there is none. */
  readCertificate?: () => Promise<{ names: string[]; validFrom: number; validTo: number }>;
  /** Whether the document database's credentials may write, null where it does not tell; absent: there is none. */
  couldWriteDocuments?: () => Promise<boolean | null>;
}

const help = `Usage: sandhaven doctor [--json] [--data-dir DIR] [--allow-vulnerable-runc]

Checks whether this machine can run sandboxes safely, and says what to do where it cannot.
Exit status 1 when a check fails.

  --json                    print the findings as JSON
  --data-dir DIR            where the service keeps everything (SANDHAVEN_DATA_DIR, ${DEFAULT_DATA_DIR})
  --allow-vulnerable-runc   a runc with known holes is a warning, not a failure
`;

export async function runDoctor(argv: string[], { stdout, env }: CliIo, facts: DoctorFacts): Promise<number> {
  const values = parse(argv);
  if (values.help) {
    stdout.write(help);
    return 0;
  }
  const checks = doctorChecks(facts, {
    dataDir: values['data-dir'] ?? env['SANDHAVEN_DATA_DIR'] ?? DEFAULT_DATA_DIR,
    allowVulnerableRunc: values['allow-vulnerable-runc'],
  });
  const rows = await Promise.all(
    checks.map(async (check) => ({ name: check.name, ...(await finding(check)) })),
  );
  const failed = rows.some(({ status }) => status === 'fail');
  stdout.write(values.json ? `${JSON.stringify({ ok: !failed, checks: rows })}\n` : table(rows));
  return failed ? 1 : 0;
}

/** Every check, in the order in which they are shown. */
export function doctorChecks(
  facts: DoctorFacts,
  { dataDir, allowVulnerableRunc }: { dataDir: string; allowVulnerableRunc: boolean },
): Check[] {
  return [
    ...hostChecks(),
    ...engineChecks(facts, allowVulnerableRunc),
    gpuCheck(facts),
    ...roomChecks(dataDir, facts.addresses),
    ...certificateChecks(facts),
    ...documentChecks(facts),
  ];
}

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      options: {
        json: { type: 'boolean', default: false },
        'data-dir': { type: 'string' },
        'allow-vulnerable-runc': { type: 'boolean', default: false },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    }).values;
  } catch (error) {
    throw usageError(
      error instanceof Error ? error.message : String(error),
      'See `sandhaven doctor --help`.',
    );
  }
}

/** A check that cannot be made is no reason to make none of the others. */
async function finding(check: Check): Promise<Finding> {
  try {
    return await check.run();
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return { status: 'fail', found, advice: 'Run it as root on the machine itself.' };
  }
}

function table(rows: ({ name: string } & Finding)[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.flatMap(({ name, status, found, advice }) => [
    `${status.padEnd(4)}  ${name.padEnd(width)}  ${printable(found)}`,
    ...(advice === undefined ? [] : [`${' '.repeat(width + 8)}→ ${printable(advice)}`]),
  ]);
  const count = (status: Finding['status']) => rows.filter((row) => row.status === status).length;
  return `${lines.join('\n')}\n${count('ok')} ok, ${count('warn')} to mind, ${count('fail')} failed\n`;
}
