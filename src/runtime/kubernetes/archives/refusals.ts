/** Errors of archives and restores on a cluster, as callers see them. */
import { SandhavenError } from '../../../model/errors.ts';
import { notItsArchive } from '../../archives/protection.ts';
import { ApiFailure, fromApi } from '../client/failure.ts';

/** Any other error is that of the decompression. */
export function asRefusal(error: unknown): unknown {
  if (!(error instanceof SandhavenError)) return notItsArchive();
  if (error.code !== 'failed_precondition') return error;
  const detail = `The disk could not be made of the archive. ${error.message}`;
  const hint = 'Nothing was changed. Ask the operator to look at the archive and at the storage class.';
  return new SandhavenError('unavailable', detail, { hint, retryable: false }, error);
}

/** Nothing was changed, so the sandbox stays what it was, and the call may be repeated. */
export function declined(error: unknown): never {
  const refused = isOfApi(error) ? fromApi(error, 'The disk could not be moved.') : error;
  if (!(refused instanceof SandhavenError)) throw refused;
  const { code, message, fields } = refused;
  if (code !== 'unavailable' || fields.retryable !== undefined) throw refused;
  throw new SandhavenError(code, message, { ...fields, retryable: true }, error);
}

/** An answer of the API, or a connection without one. */
function isOfApi(error: unknown): boolean {
  return error instanceof ApiFailure || (error instanceof Error && 'syscall' in error);
}

export function stillRunning(): SandhavenError {
  const hint = 'Stop the sandbox first.';
  return new SandhavenError('unavailable', 'The machine still runs.', { hint });
}

export function notKept(): SandhavenError {
  return new SandhavenError('unavailable', 'S3 does not keep the archive as it was written.', {
    hint: 'The disk is as it was. Try again; ask the operator to look at the S3 server when it fails again.',
    retryable: true,
  });
}

export function elsewhere(): SandhavenError {
  return new SandhavenError('unavailable', 'The service is started without the place of this archive.', {
    hint: 'Nothing was changed. Ask the operator to start the service with --archive-store s3://…, --s3-endpoint and the credentials.',
    retryable: true,
  });
}

export function noArchives(): SandhavenError {
  return new SandhavenError('failed_precondition', 'This service has no place for archives.', {
    hint: 'Stop the sandbox instead: its disk stays. On Kubernetes archives need --archive-store s3://bucket/prefix.',
  });
}
