/** All requirements, by the document that states them. */
import { documentDatabase } from './document-database.ts';
import { type Requirement, toRequirements } from './requirement.ts';
import { sandboxAccess } from './sandbox-access.ts';
import { sandboxExecution } from './sandbox-execution.ts';
import { sandboxFiles } from './sandbox-files.ts';
import { sandboxGit } from './sandbox-git.ts';
import { sandboxLifecycle } from './sandbox-lifecycle.ts';
import { wireDatabase } from './wire-database.ts';
import { wireInside } from './wire-inside.ts';
import { wireSandbox } from './wire-sandbox.ts';
import { wireService } from './wire-service.ts';

export const requirements: { document: string; list: Requirement[] }[] = [
  {
    document: 'sandbox toolkit',
    list: toRequirements(sandboxLifecycle, sandboxAccess, sandboxFiles, sandboxExecution, sandboxGit),
  },
  { document: 'document-database toolkit', list: toRequirements(documentDatabase) },
  { document: 'wire shapes', list: toRequirements(wireService, wireSandbox, wireInside, wireDatabase) },
];
