/** Parts loaded only when the operator configures them, so that other services do not hold their code in memory. */
import type { Clock, CodeHost, DocumentDatabase } from '../control/ports/index.ts';
import type { ProviderOptions } from '../model/provider-options.ts';

export async function openCodeHost(options: ProviderOptions | null, clock: Clock): Promise<CodeHost | null> {
  if (options === null) return null;
  const { openGitHub } = await import('../provider/github/open.ts');
  return openGitHub(options, clock);
}

export async function openDocuments(connectionString: string | null): Promise<DocumentDatabase | null> {
  if (connectionString === null) return null;
  const { createDocumentDatabase } = await import('../documentdb/database.ts');
  return createDocumentDatabase({ connectionString });
}
