/** The operator's options for archives. Secrets come only from the environment or from a file. */
import { invalidArgument } from './errors.ts';
import { limits } from './limits.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  /** Only with temporary credentials. */
  sessionToken?: string;
}

/** A server that speaks the S3 protocol. */
export interface S3Options {
  /** Without a path, and without a slash at its end. */
  endpoint: string;
  region: string;
  /** true: the bucket is in the path; false: it is a part of the host name. */
  pathStyle: boolean;
  credentials: S3Credentials | { file: string };
}

/** Bucket for new archives, and the beginning of their keys, without a slash at either end. */
export interface S3Folder {
  bucket: string;
  prefix: string;
}

export interface ArchiveOptions {
  /** Place of new archives: a folder in a bucket; null for this host's disk. */
  folder: S3Folder | null;
  /** Present also without `folder` when older archives lie there. */
  s3: S3Options | null;
  /** true: new archives are encrypted with a key of the installation. */
  encrypted: boolean;
}

export const onThisHost: ArchiveOptions = { folder: null, s3: null, encrypted: false };

/** Values of the flags; an empty text was not given. */
export interface ArchiveTexts {
  store: string;
  endpoint: string;
  region: string;
  pathStyle: boolean | null;
  credentialsFile: string;
  encrypted: boolean;
}

/** Settings of the environment that programs for S3 share. */
export interface S3Environment {
  credentials: S3Credentials | null;
  region: string | null;
}

const USUAL_REGION = 'us-east-1';
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const prefixSegment = /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/;
/** Longest rest of a key behind the prefix, with room to spare. */
const OWN_KEY_BYTES = 128;

/** Throws `invalid_argument` naming the flag. */
export function parseArchiveOptions(texts: ArchiveTexts, environment: S3Environment): ArchiveOptions {
  const folder = parseFolder(texts.store);
  const { endpoint, region, pathStyle, credentialsFile, encrypted } = texts;
  const given = endpoint !== '' || region !== '' || pathStyle !== null || credentialsFile !== '';
  if (folder === null && !given) return { ...onThisHost, encrypted };
  if (credentialsFile === '' && environment.credentials === null) {
    throw invalidArgument(
      '--s3-credentials-file',
      '--s3-credentials-file is missing: without credentials no archive can be written to S3 or read from there.',
      'Or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  }
  const where = region || environment.region || USUAL_REGION;
  if (!/^[a-z0-9-]{1,64}$/i.test(where)) {
    throw invalidArgument(
      '--s3-region',
      `--s3-region must be a name such as ${USUAL_REGION}, and '${where}' was given.`,
    );
  }
  return {
    folder,
    encrypted,
    s3: {
      endpoint: endpoint === '' ? `https://s3.${where}.amazonaws.com` : parseEndpoint(endpoint),
      region: where,
      // Servers other than Amazon's rarely have a host name for each bucket.
      pathStyle: pathStyle ?? endpoint !== '',
      credentials:
        credentialsFile === '' ? (environment.credentials as S3Credentials) : { file: credentialsFile },
    },
  };
}

/** Reads the standard variables; half a pair counts as none. */
export function parseS3Environment(env: NodeJS.ProcessEnv): S3Environment {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'] || '';
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'] || '';
  const sessionToken = env['AWS_SESSION_TOKEN'] || '';
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || null;
  if (accessKeyId === '' || secretAccessKey === '') return { credentials: null, region };
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }, region };
}

function parseFolder(text: string): S3Folder | null {
  if (text === '' || text === 'local') return null;
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)\/?(.*?)\/?$/.exec(text) ?? [];
  const whole = path === '' || path.split('/').every((segment) => prefixSegment.test(segment));
  const short = Buffer.byteLength(path) + OWN_KEY_BYTES <= limits.archives.keyBytes;
  if (bucketName.test(bucket) && whole && short) return { bucket, prefix: path };
  throw invalidArgument(
    '--archive-store',
    `--archive-store must be local, or a bucket and a prefix, and '${text}' was given.`,
    'For example s3://bucket/archives; a prefix has letters, digits, dots, dashes and underscores.',
  );
}

function parseEndpoint(text: string): string {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (plain && url.pathname === '/' && url.search === '' && url.hash === '') return url.origin;
  throw invalidArgument(
    '--s3-endpoint',
    '--s3-endpoint must be a URL without a path, such as https://s3.example.com:9000.',
  );
}
