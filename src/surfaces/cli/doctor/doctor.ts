/**
 * `sandhaven doctor`: checks that this host can run sandboxes safely, and advises where it cannot. Its attempts
 * leave nothing behind: each ends with a namespace of its own, or is undone at once. Exit status 1 when a check
 * fails.
 *
 * Invariant: a check fails wherever `up` would fail because of this host; `up` makes those checks first.
 */
import { parseArgs } from 'node:util';
import type { DoctorFacts } from '../../../control/ports/doctor-facts.ts';
import { SandhavenError } from '../../../model/errors.ts';
import { DEFAULT_DATA_DIR } from '../connection.ts';
import { usageError } from '../flags.ts';
import type { CliIo } from '../io.ts';
import { printable } from '../output.ts';
import type { Check, Finding } from './check.ts';
import { engineChecks, gpuCheck } from './engine.ts';
import { hostChecks } from './host.ts';
import { portChecks } from './ports.ts';
import { dataChecks, roomChecks } from './room.ts';
import { archiveChecks, certificateChecks, clientNames, documentChecks } from './service.ts';

type Row = { name: string } & Finding;

const help = `Usage: sandhaven doctor [--json] [--data-dir DIR] [--before-build] [--allow-vulnerable-runc]

Checks that this machine can run sandboxes safely, and names the next step where it cannot.
Exit status 1 when a check fails.

  --json                    print the findings as JSON
  --data-dir DIR            where the service keeps everything (SANDHAVEN_DATA_DIR, ${DEFAULT_DATA_DIR})
  --before-build            only what \`up\` needs and a build does not provide; silent when all is well
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
  }).filter(({ neededByUp, isBuilt }) => !values['before-build'] || (neededByUp && !isBuilt));
  const rows = await findings(checks);
  if (values['before-build']) return complain(rows, stdout);
  const failed = rows.some(({ status }) => status === 'fail');
  stdout.write(values.json ? `${JSON.stringify({ ok: !failed, checks: rows })}\n` : table(rows));
  return failed ? 1 : 0;
}

/**
 * @param elsewhere true: sandboxes run on other machines, so only what the service itself needs of this one is checked.
 * @throws `failed_precondition` with the reasons that keep `up` from starting, before it has begun anything.
 */
export async function assertUpCanStart(
  facts: DoctorFacts,
  dataDir: string,
  elsewhere = false,
): Promise<void> {
  const checks = checksOf(facts, dataDir, elsewhere);
  const failed = (await findings(checks.filter(({ neededByUp }) => neededByUp))).filter(
    ({ status }) => status === 'fail',
  );
  if (failed.length === 0) return;
  const said = failed.map(({ name, found }) => `${name}: ${found}`);
  const advice = failed.flatMap(({ advice }) => advice ?? []);
  throw new SandhavenError('failed_precondition', `The service cannot start here. ${said.join('. ')}.`, {
    hint: advice.join(' '),
  });
}

/** Makes the checks for a service that runs. */
export function examine(facts: DoctorFacts, dataDir: string, elsewhere: boolean): Promise<Row[]> {
  return findings(checksOf(facts, dataDir, elsewhere));
}

function checksOf(facts: DoctorFacts, dataDir: string, elsewhere: boolean): Check[] {
  return elsewhere
    ? [...portChecks(facts, dataDir), ...certificateChecks(facts)]
    : doctorChecks(facts, { dataDir, allowVulnerableRunc: true });
}

/** Every check, in display order. */
export function doctorChecks(
  facts: DoctorFacts,
  { dataDir, allowVulnerableRunc }: { dataDir: string; allowVulnerableRunc: boolean },
): Check[] {
  return [
    ...hostChecks(facts),
    ...engineChecks(facts, allowVulnerableRunc),
    gpuCheck(facts),
    ...dataChecks(dataDir, facts),
    ...roomChecks(dataDir, facts),
    ...portChecks(facts, dataDir),
    { name: 'orphans', run: async () => orphans(await facts.findOrphans()) },
    { name: 'public names', run: async () => publicNames(facts) },
    ...certificateChecks(facts),
    { name: 'client names', run: () => clientNames(facts) },
    ...documentChecks(facts),
    ...archiveChecks(facts),
  ];
}

export function orphans(found: { instance: string; machines: number }[]): Finding {
  if (found.length === 0) return { status: 'ok', found: 'none' };
  const machines = found.reduce((sum, { machines }) => sum + machines, 0);
  const ids = found.map(({ instance }) => instance).join(', ');
  return {
    status: 'warn',
    found: `left by services whose data directory is gone: ${ids} (${machines} sandboxes running)`,
    advice: 'Look at them with `sandhaven purge --orphans`, and remove them with --yes.',
  };
}

export function publicNames({ missingPublicNames }: Pick<DoctorFacts, 'missingPublicNames'>): Finding {
  if (missingPublicNames === null)
    return { status: 'ok', found: 'every address that is handed out can be reached' };
  return { status: 'warn', ...missingPublicNames };
}

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      options: {
        json: { type: 'boolean', default: false },
        'data-dir': { type: 'string' },
        'before-build': { type: 'boolean', default: false },
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

function findings(checks: Check[]): Promise<Row[]> {
  return Promise.all(checks.map(async (check) => ({ name: check.name, ...(await finding(check)) })));
}

/** @returns the exit status. */
function complain(rows: Row[], stdout: CliIo['stdout']): number {
  const failed = rows.filter(({ status }) => status === 'fail');
  if (failed.length > 0) stdout.write(table(failed));
  return failed.length > 0 ? 1 : 0;
}

/** One impossible check must not prevent the others. */
async function finding(check: Check): Promise<Finding> {
  try {
    return await check.run();
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return { status: 'fail', found, advice: 'Run it as root on the machine itself.' };
  }
}

function table(rows: Row[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const lines = rows.flatMap(({ name, status, found, advice }) => [
    `${status.padEnd(4)}  ${name.padEnd(width)}  ${printable(found)}`,
    ...(advice === undefined ? [] : [`${' '.repeat(width + 8)}→ ${printable(advice)}`]),
  ]);
  const count = (status: Finding['status']) => rows.filter((row) => row.status === status).length;
  return `${lines.join('\n')}\n${count('ok')} ok, ${count('warn')} warned, ${count('fail')} failed\n`;
}
