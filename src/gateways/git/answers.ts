/** Maps a remote's refusal to an error for the caller. Of the remote's own text only a host name is passed on. */
import type { GitPurpose } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { GitUrl } from '../../model/git/url.ts';

const HOST_CHARS = 255;

export function faultOfStatus(remote: GitUrl, purpose: GitPurpose, status: number): SandhavenError {
  if (status === 401 || status === 403) return credentialsRefused(remote, purpose, status);
  if (status === 404 || status === 410) {
    return new SandhavenError('not_found', `${remote.host} has no such repository for this user.`, {
      resource: 'repository',
      parameter: 'url',
      hint: 'Check the URL, and that the user of these credentials may see the repository.',
    });
  }
  if (status === 429 || status >= 500) {
    return new SandhavenError('unavailable', `${remote.host} answers with status ${status}.`, {
      hint: 'Try again later.',
    });
  }
  return new SandhavenError('failed_precondition', `${remote.host} answers with status ${status}.`, {
    hint: 'Check the URL of the repository.',
  });
}

export function notGit(remote: GitUrl): SandhavenError {
  return new SandhavenError('failed_precondition', `${remote.host} does not answer like a Git server.`, {
    parameter: 'url',
    hint: "Give the URL of the repository itself; the remote must speak Git's smart HTTP protocol.",
  });
}

/** @param host Target of the redirect; null for a redirect loop, or a redirect after the first request. */
export function elsewhere(remote: GitUrl, host: string | null): SandhavenError {
  const where = host === null ? 'again and again' : `to ${plain(host)}`;
  return new SandhavenError('failed_precondition', `${remote.host} redirects ${where}.`, {
    parameter: 'url',
    hint: 'Credentials are never sent to another address: clone from the one that it redirects to.',
  });
}

function credentialsRefused(remote: GitUrl, purpose: GitPurpose, status: number): SandhavenError {
  const doing = purpose.service === 'git-receive-pack' ? 'push' : 'read';
  const known = status === 403;
  return new SandhavenError(
    'permission_denied',
    known
      ? `The remote ${remote.host} accepts these credentials, but does not let them ${doing} here.`
      : `The remote ${remote.host} refuses these credentials.`,
    {
      hint: known
        ? 'Use a token that may do this.'
        : 'Clone again with a username and password (a personal access token) that are valid.',
    },
  );
}

function plain(host: string): string {
  return host.replaceAll(/[^A-Za-z0-9.:[\]-]/g, '?').slice(0, HOST_CHARS);
}
