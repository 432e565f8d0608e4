/**
 * Measures the document database tools beside mongodb-mcp-server, on the same database at the same time; both are
 * called by the official MCP client.
 */
import { join } from 'node:path';
import { type Collection, MongoClient } from 'mongodb';
import { startService } from '../../test/support/service.ts';
import { addFigures, type Figures, interleave, type Rounds, type Samples } from '../base/interleave.ts';
import { home } from '../base/machine.ts';
import { processMemory } from '../base/memory.ts';
import type { Scenario } from '../base/scenario.ts';
import {
  type Contender,
  type McpContender,
  overHttp,
  overStdio,
  overStreamableHttp,
  type Service,
} from '../documents/contender.ts';
import { COLLECTION, DATABASE, startDemoDatabase } from '../documents/demo-database.ts';
import { installMongodbMcpServer, startMongodbMcpServer } from '../documents/mongodb-mcp-server.ts';
import { ask, ourCollection, type Question, questionsAbout, subjectOf } from '../documents/questions.ts';
import { schemaQuestions } from '../documents/schema-questions.ts';

const ROUNDS = 40;
const ROUNDS_OF_MANY = 10;
/** Their tools that correspond to our six. */
const CORRESPONDING = [
  'list-databases',
  'list-collections',
  'collection-schema',
  'find',
  'count',
  'aggregate',
];
const THEIRS_IS_MISSING = 'documents: mongodb-mcp-server could not be installed, so nothing is beside ours';

interface Sides {
  sandhaven: McpContender;
  sandhavenStdio: Contender;
  sandhavenHttp: Contender;
  mongodbMcp: McpContender | null;
}

export const documents: Scenario = async (bench) => {
  const { sandhaven, folder, rounds } = bench;
  await using cleanup = new AsyncDisposableStack();
  const installed = await installMongodbMcpServer().then(
    () => true,
    () => false,
  );
  const { connectionString } = cleanup.use(await startDemoDatabase(sandhaven));
  const service = await startReader(connectionString, join(folder, 'documents-data'), cleanup);
  const theirs = installed
    ? cleanup.use(await startMongodbMcpServer(connectionString, join(folder, 'mongodb-mcp-server')))
    : null;
  const sides = { ...(await connectOurs(service, cleanup)), mongodbMcp: theirs };
  const client = cleanup.adopt(new MongoClient(connectionString), (open) => open.close());
  const collection = client.db(DATABASE).collection(COLLECTION);

  await sides.sandhaven.ask('DocumentDb_DiscoverCollections', { database_name: DATABASE });
  const before = await weigh(service.pid, theirs?.pid);
  await sides.sandhaven.ask('DocumentDb_GetCollectionSchema', ourCollection);
  const [fewSampled, manySampled] = schemaQuestions();
  const questions = [...questionsAbout(await subjectOf(collection)), fewSampled];
  const samples: Samples = {
    ...(await inTurns(rounds(ROUNDS), questions, sides, collection)),
    ...(await inTurns(rounds(ROUNDS_OF_MANY), [manySampled], sides, collection)),
  };
  await addDefinitions(samples, sides);
  const after = await weigh(service.pid, theirs?.pid);
  for (const side of ['sandhaven', 'mongodbMcp'] as const) {
    const [first, last] = [before[side], after[side]];
    if (first === undefined || last === undefined) continue;
    addFigures(samples, side, { documentsMemory: last, documentsGrowth: last - first });
  }
  return { samples, notes: theirs ? [] : [THEIRS_IS_MISSING] };
};

/** Starts a service of its own that only reads. */
async function startReader(
  connectionString: string,
  dataDir: string,
  cleanup: AsyncDisposableStack,
): Promise<Service & { pid: number }> {
  const env = { DOCUMENTDB_CONNECTION_STRING: connectionString };
  return cleanup.adopt(await startService({ dataDir, env }), (service) => service.stop());
}

async function connectOurs(service: Service, cleanup: AsyncDisposableStack) {
  const stdio = await overStdio({
    command: join(home, 'bin/sandhaven'),
    args: ['mcp', '--toolsets', 'documentdb'],
    env: {
      PATH: process.env['PATH'] ?? '',
      SANDBOX_API_URL: service.url,
      SANDBOX_API_KEY: service.apiKey,
    },
  });
  return {
    sandhavenStdio: cleanup.use(stdio),
    sandhaven: cleanup.use(await overStreamableHttp(service)),
    sandhavenHttp: cleanup.use(overHttp(service)),
  };
}

function inTurns(rounds: Rounds, questions: Question[], sides: Sides, collection: Collection) {
  const turn = (contender: Contender, side: 'ours' | 'theirs') => () =>
    each(questions, (question) => ask(contender, question, side, collection));
  const { sandhaven, sandhavenStdio, sandhavenHttp, mongodbMcp } = sides;
  return interleave(rounds, {
    sandhaven: turn(sandhaven, 'ours'),
    sandhavenStdio: turn(sandhavenStdio, 'ours'),
    sandhavenHttp: turn(sandhavenHttp, 'ours'),
    ...(mongodbMcp ? { mongodbMcp: turn(mongodbMcp, 'theirs') } : {}),
    driver: () =>
      each(questions, async ({ time, bare }) => {
        const begun = performance.now();
        await bare(collection);
        return { [time]: performance.now() - begun };
      }),
  });
}

async function each(questions: Question[], work: (question: Question) => Promise<Figures>): Promise<Figures> {
  const figures: Figures = {};
  for (const question of questions) Object.assign(figures, await work(question));
  return figures;
}

async function addDefinitions(samples: Samples, { sandhaven, mongodbMcp }: Sides): Promise<void> {
  const sum = (sizes: Iterable<number>) => [...sizes].reduce((total, size) => total + size, 0) / 1e3;
  const ours = await sandhaven.definitions();
  addFigures(samples, 'sandhaven', { sixTools: sum(ours.values()), listedTools: sum(ours.values()) });
  if (!mongodbMcp) return;
  const theirs = await mongodbMcp.definitions();
  const sixTools = sum(CORRESPONDING.map((name) => theirs.get(name) ?? Number.NaN));
  addFigures(samples, 'mongodbMcp', { sixTools, listedTools: sum(theirs.values()) });
}

/** Resident memory in MB. */
async function weigh(ours: number, theirs: number | undefined) {
  const megabytes = async (pid: number) => (await processMemory(pid)).resident / 1e6;
  return {
    sandhaven: await megabytes(ours),
    ...(theirs === undefined ? {} : { mongodbMcp: await megabytes(theirs) }),
  };
}
