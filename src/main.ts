/** The command `sandhaven`: which word starts what. Parts are loaded when they are needed, so that a call is quick. */
import { SandhavenError } from './model/errors.ts';
import { runCli } from './surfaces/cli/cli.ts';
import { type Command, processIo } from './surfaces/cli/io.ts';
import { version } from './version.ts';

const up: Command = {
  summary: 'run the service in the foreground',
  async run(argv, { env, stdout, signal }) {
    const { parseDocumentDbOptions, parseUpOptions } = await import('./options.ts');
    const { secretVariables, upHelp } = await import('./option-flags.ts');
    if (argv.includes('--help')) {
      stdout.write(upHelp);
      return 0;
    }
    const options = parseUpOptions(argv, env);
    const secrets = { apiKey: env['SANDBOX_API_KEY'], documentDb: parseDocumentDbOptions(env) };
    for (const name of secretVariables) delete env[name];
    const { up } = await import('./up.ts');
    return up(options, secrets, signal);
  },
};

const purgeHelp = `Usage: sandhaven purge --yes [--data-dir …]

Deletes every sandbox of a data directory and every trace of it on this machine (disks, archives, links,
firewall rules). The service must not be running.
`;

const purge: Command = {
  summary: 'delete every sandbox of a data directory and every trace on the machine',
  async run(argv, { env, stdout }) {
    const { flagIsSet, flagValue, parseKnownFlags } = await import('./surfaces/cli/flags.ts');
    const flags = parseKnownFlags(argv, {
      'data-dir': { type: 'string' },
      yes: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (flagIsSet(flags, 'help')) {
      stdout.write(purgeHelp);
      return 0;
    }
    if (!flagIsSet(flags, 'yes')) {
      throw new SandhavenError('failed_precondition', 'This deletes every sandbox for good.', {
        hint: 'Say --yes if that is what you want.',
      });
    }
    const [{ purge }, { createLog }] = await Promise.all([import('./purge.ts'), import('./log.ts')]);
    const { parseUpOptions } = await import('./options.ts');
    const dataDir = flagValue(flags, 'data-dir') ?? parseUpOptions([], env).dataDir;
    await purge({ dataDir, clock: Date, log: createLog() });
    stdout.write('Purged.\n');
    return 0;
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
    const [{ runDoctor }, { doctorFacts }] = await Promise.all([
      import('./surfaces/cli/doctor.ts'),
      import('./engine.ts'),
    ]);
    const { parseDocumentDbOptions, parseUpOptions } = await import('./options.ts');
    const { listen, tls, gpuKind } = parseUpOptions([], io.env);
    const { connectionString } = parseDocumentDbOptions(io.env);
    const { readCertificate } = await import('./tls/certificate.ts');
    const facts = {
      ...doctorFacts(gpuKind),
      addresses: [`${listen.host}:${listen.port}`],
      ...(tls ? { readCertificate: () => readCertificate(tls) } : {}),
    };
    if (connectionString === null) return runDoctor(argv, io, facts);
    const { createDocumentDatabase } = await import('./documentdb/database.ts');
    const database = createDocumentDatabase({ connectionString });
    try {
      return await runDoctor(argv, io, { ...facts, couldWriteDocuments: () => database.couldWrite() });
    } finally {
      await database.close();
    }
  },
};

const demoDb: Command = {
  summary: 'run a document database with data to try, in a sandbox',
  async run(argv, io) {
    const { demoDb } = await import('./surfaces/cli/commands/demo-db.ts');
    const command = demoDb({
      async load(client, options) {
        const { loadDemoData } = await import('./demo-data/load.ts');
        return loadDemoData(client, options);
      },
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

// Exits by itself when nothing is left to do; what keeps it running would be a leak worth seeing.
process.exitCode = await runCli(process.argv.slice(2), processIo(), {
  version,
  commands: { up, purge, doctor, mcp, 'demo-db': demoDb },
});
