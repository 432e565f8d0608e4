/** Shared parameters of the Git tools: the repository, branches and revisions. */
import { z } from 'zod';
import type { Repository } from '../../control/git/git-service.ts';
import type { CallOptions } from '../../control/ports/index.ts';
import { branchNameFault, revisionFault } from '../../model/git/ref.ts';
import { limits } from '../../model/limits.ts';
import { type CallContext, withoutUndefined } from '../base/tool.ts';
import { optionalSandbox } from '../parameters/sandbox.ts';
import { path, textWithoutNul } from '../parameters/scalars.ts';

export const repositoryParameters = {
  sandbox: optionalSandbox,
  path: path().optional().describe('Repository (/workspace, or the only one in it).'),
};

/** Part of every result. */
export const repositoryFound = {
  repository: z.string().optional().meta({
    description: 'The repository in /workspace that was found, when path was left out.',
    unlisted: true,
  }),
};

/** Returns the end of a result's text. */
export function foundText({ repository }: { repository?: string | undefined }): string {
  return repository === undefined ? '' : ` Repository: ${repository}.`;
}

export function branchName() {
  return checked(branchNameFault);
}

export function revision() {
  return checked(revisionFault);
}

/** Accepts one line for a commit's author: Git keeps the name and the address between `<` and `>`. */
export function identity() {
  return textWithoutNul()
    .min(1)
    .max(limits.git.identityChars)
    .refine(
      (value) => !/[\p{Cc}<>]/u.test(value) && /[^\s.,:;"'\\]/u.test(value),
      'must be one line with letters or digits, without < and >',
    );
}

export function repositoryOf(
  { sandbox, path }: { sandbox?: string | undefined; path?: string | undefined },
  { caller }: CallContext,
): Repository {
  return { caller, sandbox, ...withoutUndefined({ path }) };
}

export function optionsOf({ signal, progress }: CallContext): CallOptions {
  return { signal, onProgress: progress };
}

function checked(fault: (value: string) => string | null) {
  return textWithoutNul()
    .min(1)
    .check(({ value, issues }) => {
      const message = fault(value);
      if (message !== null) issues.push({ code: 'custom', input: value, message });
    });
}
