/** The command `sandhaven`: its subcommands, each loaded on use so that a call starts quickly. */

import { version } from './home.ts';
import { SandhavenError } from './model/errors.ts';
import { runCli } from './surfaces/cli/commands/cli.ts';
import { type CliIo, type Command, processIo } from './surfaces/cli/io.ts';

const up: Command = {
  summary: 'run the service in the foreground',
  async run(argv, { env, stdout, signal }) {
    const { parseUpOptions } = await import('./app/options/up-options.ts');
    const { parseDocumentDbOptions } = await import('./app/options/environment.ts');
    const { upHelp } = await import('./app/options/all-flags.ts');
    if (argv.includes('--help')) {
      stdout.write(upHelp);
      return 0;
    }
    const options = parseUpOptions(argv, env);
    const { managerOf } = await import('./app/parts/service-manager.ts');
    const { socketsGiven } = await import('./app/parts/kept-sockets.ts');
    const documentDb = parseDocumentDbOptions(env);
    const manager = { manager: managerOf(env), sockets: socketsGiven(env) };
    const secrets = { apiKey: env['SANDBOX_API_KEY'], documentDb, ...manager };
    const { up } = await import('./app/up.ts');
    try {
      return await up(options, secrets, signal);
    } catch (error) {
      throw error instanceof SandhavenError ? error : await cannotStart(error);
    }
  },
};

/** Returns the error of an unexpected failure at start, with the system's message; logs the trace of a defect. */
async function cannotStart(error: unknown): Promise<SandhavenError> {
  const ofSystem = error instanceof Error && 'syscall' in error;
  if (!ofSystem) (await import('./log.ts')).createLog().error('the service could not start', { error });
  const reason = error instanceof Error ? error.message : String(error);
  return new SandhavenError(
    'failed_precondition',
    `The service cannot run here: ${reason}.`,
    { hint: 'Run `sandhaven doctor` to find what this machine lacks.' },
    error,
  );
}

const purgeHelp = `Usage: sandhaven purge --yes [--data-dir …]
       sandhaven purge --orphans [--yes]

Deletes every sandbox of a data directory and every trace of it on this machine (disks, archives, links,
firewall rules). The service must not be running. Archives in S3 are deleted when the environment has the
settings of it (SANDHAVEN_S3_ENDPOINT and the others of \`up\`).

  --orphans   leftovers of services whose data directory is gone: running sandboxes, control groups, links,
              firewall rules; without --yes, only lists them
`;

const purge: Command = {
  summary: 'delete every sandbox of a data directory and every trace on the machine',
  async run(argv, { env, stdout }) {
    const { flagIsSet, flagValue, parseKnownFlags } = await import('./surfaces/cli/flags.ts');
    const flags = parseKnownFlags(argv, {
      'data-dir': { type: 'string' },
      orphans: { type: 'boolean' },
      yes: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (flagIsSet(flags, 'help')) {
      stdout.write(purgeHelp);
      return 0;
    }
    if (flagIsSet(flags, 'orphans')) return removeOrphans(flagIsSet(flags, 'yes'), stdout);
    if (!flagIsSet(flags, 'yes')) {
      throw new SandhavenError('failed_precondition', 'This deletes every sandbox for good.', {
        hint: 'Give --yes to confirm.',
      });
    }
    const [{ purge }, { createLog }] = await Promise.all([import('./app/purge.ts'), import('./log.ts')]);
    const { parseUpOptions } = await import('./app/options/up-options.ts');
    const { dataDir: usual, store, archives, kubernetes } = parseUpOptions([], env);
    if (kubernetes !== null) {
      throw new SandhavenError('failed_precondition', 'Sandboxes on Kubernetes are not purged from here.', {
        hint: 'Delete all with the label app.kubernetes.io/managed-by=sandhaven in their namespace.',
      });
    }
    const dataDir = flagValue(flags, 'data-dir') ?? usual;
    await purge({ dataDir, store, archives, clock: Date, log: createLog() });
    stdout.write('Purged.\n');
    return 0;
  },
};

async function removeOrphans(remove: boolean, stdout: CliIo['stdout']): Promise<number> {
  const [{ purgeOrphans }, { createLog }] = await Promise.all([import('./app/purge.ts'), import('./log.ts')]);
  const orphans = await purgeOrphans({ remove, log: createLog() });
  for (const { instance, dataDir, machines } of orphans) {
    const of = dataDir === null ? '' : ` of ${dataDir}`;
    stdout.write(`${remove ? 'Removed' : 'Orphan'} ${instance}${of}; sandboxes that ran: ${machines}\n`);
  }
  if (orphans.length === 0) stdout.write('There are none.\n');
  else if (!remove) stdout.write('Give --yes to remove them.\n');
  return 0;
}

const store: Command = {
  summary: 'move the store of a data directory to PostgreSQL',
  async run(argv, io) {
    const { storeCommand } = await import('./app/copy-store.ts');
    return storeCommand(argv, io);
  },
};

const backup: Command = {
  summary: 'back up everything of a service on this machine',
  shape: () => ({
    flags: { s3: 'text', 'with-keys': 'none', json: 'none', 'data-dir': { of: 'file' } },
    takes: ['file'],
  }),
  async run(argv, io) {
    const { backupCommand } = await import('./app/parts/backup/backup-command.ts');
    return backupCommand.run(argv, io);
  },
};

const restore: Command = {
  summary: 'make a data directory of a backup',
  shape: () => ({
    flags: { s3: 'text', 'key-file': { of: 'file' }, json: 'none', 'data-dir': { of: 'file' } },
    takes: ['file'],
  }),
  async run(argv, io) {
    const { restoreCommand } = await import('./app/parts/backup/restore-command.ts');
    return restoreCommand.run(argv, io);
  },
};

const config: Command = {
  summary: 'check and show the configuration of the service',
  async run(argv, io) {
    const { configCommand } = await import('./app/parts/config-command.ts');
    return configCommand(argv, io);
  },
};

const prove: Command = {
  summary: 'show that the service of this machine works',
  async run(argv, io) {
    const { proveCommand } = await import('./app/prove.ts');
    return proveCommand(argv, io);
  },
};

const images: Command = {
  summary: 'push the images for a cluster to a registry',
  async run(argv, io) {
    const { imagesCommand } = await import('./app/push-images.ts');
    return imagesCommand(argv, io);
  },
};

const mcp: Command = {
  summary: 'MCP on standard input and output, for clients that start a program',
  async run(argv, io) {
    const { runMcp } = await import('./surfaces/mcp/stdio.ts');
    return runMcp(argv, io);
  },
};

const doctor: Command = {
  summary: 'check this machine',
  async run(argv, io) {
    const [{ runDoctor }, { doctorFactsOf }] = await Promise.all([
      import('./surfaces/cli/doctor/doctor.ts'),
      import('./app/doctor-facts.ts'),
    ]);
    const { parseUpOptions } = await import('./app/options/up-options.ts');
    const { parseDocumentDbOptions } = await import('./app/options/environment.ts');
    const options = parseUpOptions([], io.env);
    if (options.kubernetes !== null && !argv.includes('--help')) {
      const { examineCluster } = await import('./app/engine/kubernetes.ts');
      io.stdout.write(`${await examineCluster(options.kubernetes)}\n`);
      return 0;
    }
    const { connectionString } = parseDocumentDbOptions(io.env);
    if (connectionString === null) return runDoctor(argv, io, doctorFactsOf(options, null));
    const { createDocumentDatabase } = await import('./documentdb/database.ts');
    const database = createDocumentDatabase({ connectionString });
    try {
      return await runDoctor(
        argv,
        io,
        doctorFactsOf(options, () => database.couldWrite()),
      );
    } finally {
      await database.close();
    }
  },
};

const demoDb: Command = {
  summary: 'run a document database with data to try, in a sandbox',
  async run(argv, io) {
    const { demoDb } = await import('./demo-database/demo-db.ts');
    const command = demoDb({
      async buildImage(onOutput, signal) {
        const { buildDocumentDbImage } = await import('./runtime/images/build-image.ts');
        return buildDocumentDbImage(onOutput, signal);
      },
      async builtRecipe() {
        const { builtRecipe } = await import('./runtime/images/build-image.ts');
        return builtRecipe();
      },
    });
    return command.run(argv, io);
  },
};

/** A command that starts programs of the host, which see none of the secrets in its environment. */
function onHost(command: Command): Command {
  return {
    ...command,
    async run(argv, io) {
      const { takeEnvironment } = await import('./app/options/environment.ts');
      return command.run(argv, { ...io, env: { ...takeEnvironment(process.env), ...io.env } });
    },
  };
}

const hostCommands = { up: onHost(up), purge: onHost(purge), store: onHost(store), doctor: onHost(doctor) };
const backups = { backup: onHost(backup), restore: onHost(restore) };

// No process.exit: anything that keeps the process running is a leak worth seeing.
process.exitCode = await runCli(process.argv.slice(2), processIo(), {
  version,
  commands: { ...hostCommands, ...backups, prove, config, images, mcp, 'demo-db': demoDb },
});
