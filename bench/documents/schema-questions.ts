/** Asks for schemas of samples. The server's own time for drawing a sample is the bare read that is subtracted. */
import type { Collection } from 'mongodb';
import { limits } from '../../src/model/limits.ts';
import { wholeAnswer } from './mongodb-mcp-server.ts';
import { ourCollection, type Question, theirCollection } from './questions.ts';

const FEW = 1_000;
const MANY = 100_000;
/** Documents of one round trip, as the tool reads them. */
const BATCH = limits.documents.sampleBatchDocuments;

/** Theirs never samples more than 50,000, so it is not asked for the large one. */
export function schemaQuestions(): [few: Question, many: Question] {
  return [
    {
      ...sampled(FEW),
      time: 'schema',
      beyond: 'schemaBeyond',
      size: 'schemaSize',
      theirs: {
        tool: 'collection-schema',
        parameters: { ...theirCollection, sampleSize: FEW, ...wholeAnswer },
      },
    },
    { ...sampled(MANY), time: 'schemaMany', beyond: 'schemaManyBeyond', theirs: null },
  ];
}

function sampled(size: number) {
  return {
    ours: {
      tool: 'DocumentDb_GetCollectionSchema',
      parameters: { ...ourCollection, sample_size: size },
    },
    async bare(collection: Collection) {
      const batchSize = Math.min(size, BATCH);
      const cursor = collection.aggregate([{ $sample: { size } }], { raw: true, batchSize });
      let count = 0;
      while (await cursor.hasNext()) count += cursor.readBufferedDocuments().length;
      return count;
    },
    /** Theirs does not report its sample size. */
    amount: (result: Record<string, unknown>) =>
      'sampled' in result ? Number(result['sampled']) : 'schema' in result ? size : 0,
  };
}
