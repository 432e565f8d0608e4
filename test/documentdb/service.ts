/** A real service in front of the database, for a whole file, and the calls that it takes to be let query. */
import { afterAll, beforeAll } from 'vitest';
import { type Answer, call, type Service, startService } from '../support/service.ts';

export type Parameters = Record<string, unknown>;

export interface DocumentService {
  readonly service: Service;
  /** A tool of the documents, over HTTP. */
  ask(tool: string, parameters?: Parameters): Promise<Answer>;
  /** As `ask`, and fails when the answer is an error. */
  ok(tool: string, parameters?: Parameters): Promise<Parameters>;
  /** Discovers the collections of a database and loads the schemas of some. */
  explore(database: string, collections: readonly string[]): Promise<void>;
}

/** @param environment Of the service; asked for when it starts. */
export function useService(
  environment: () => Record<string, string> | Promise<Record<string, string>>,
): DocumentService {
  let started: Service | undefined;
  beforeAll(async () => {
    started = await startService({ env: await environment() });
  });
  afterAll(() => started?.stop());

  const service = () => {
    if (!started) throw new Error('the service is not started yet');
    return started;
  };
  const ask = (tool: string, parameters: Parameters = {}) =>
    call(service(), `DocumentDb.${tool}`, parameters);
  const ok = async (tool: string, parameters: Parameters = {}) => {
    const { status, body } = await ask(tool, parameters);
    if (status !== 200) throw new Error(`${tool}: ${JSON.stringify(body)}`);
    return body;
  };
  return {
    get service() {
      return service();
    },
    ask,
    ok,
    async explore(database, collections) {
      await ok('DiscoverCollections', { database_name: database });
      for (const collection_name of collections) {
        await ok('GetCollectionSchema', { database_name: database, collection_name });
      }
    },
  };
}
