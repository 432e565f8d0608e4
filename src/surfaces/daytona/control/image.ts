/**
 * Images in the form of Daytona's clients. One that is given by its name arrives as a Dockerfile of one line, and every other
 * Dockerfile asks for a build.
 */
import { invalidArgument } from '../../../model/errors.ts';
import { NotHere } from '../base/errors.ts';

const ONE_LINE = /^\s*FROM\s+(?!--)(\S+)\s*$/i;

/** Returns the image of a `buildInfo`; undefined where there is none. Throws `NotHere` for one to be built. */
export function imageOf(buildInfo: unknown): string | undefined {
  if (buildInfo === undefined || buildInfo === null) return undefined;
  const { dockerfileContent, contextHashes } = buildInfo as Record<string, unknown>;
  if (typeof dockerfileContent !== 'string') {
    throw invalidArgument('buildInfo', 'buildInfo.dockerfileContent must be a Dockerfile.');
  }
  const [, image] = ONE_LINE.exec(dockerfileContent) ?? [];
  const addsFiles = Array.isArray(contextHashes) && contextHashes.length > 0;
  if (image !== undefined && !addsFiles) return image;
  throw new NotHere(
    'This service builds no images: give the name of one that a registry has, and do the rest in the sandbox.',
  );
}
