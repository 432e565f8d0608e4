import { describe, expect, it } from 'vitest';
import {
  type ArchiveTexts,
  parseArchiveOptions,
  parseS3Environment,
} from '../../src/model/archive-options.ts';

const nothing: ArchiveTexts = {
  store: 'local',
  endpoint: '',
  region: '',
  pathStyle: null,
  credentialsFile: '',
  encrypted: false,
};
const key = { accessKeyId: 'a', secretAccessKey: 's' };
const environment = { credentials: key, region: null };
const parse = (
  texts: Partial<ArchiveTexts>,
  from = environment as Parameters<typeof parseArchiveOptions>[1],
) => parseArchiveOptions({ ...nothing, ...texts }, from);

describe('the options of archives', () => {
  it('are this host unless a flag says otherwise, also with credentials in the environment', () => {
    expect(parse({})).toEqual({ folder: null, s3: null, encrypted: false });
    expect(parse({ store: '' })).toEqual({ folder: null, s3: null, encrypted: false });
  });

  it("are Amazon's server of the region without an endpoint, with the bucket in the host name", () => {
    expect(parse({ store: 's3://bucket' })).toEqual({
      folder: { bucket: 'bucket', prefix: '' },
      encrypted: false,
      s3: {
        endpoint: 'https://s3.us-east-1.amazonaws.com',
        region: 'us-east-1',
        pathStyle: false,
        credentials: key,
      },
    });
    const inRegion = parse({ store: 's3://bucket' }, { credentials: key, region: 'eu-west-1' });
    expect(inRegion.s3).toMatchObject({
      endpoint: 'https://s3.eu-west-1.amazonaws.com',
      region: 'eu-west-1',
    });
    expect(parse({ store: 's3://bucket', region: 'x' }, { credentials: key, region: 'y' }).s3?.region).toBe(
      'x',
    );
  });

  it('have the bucket in the path with another endpoint, unless a flag says otherwise', () => {
    const endpoint = 'https://s3.example.com:9000/';
    expect(parse({ store: 's3://my.bucket/a/b_c.d/', endpoint })).toMatchObject({
      folder: { bucket: 'my.bucket', prefix: 'a/b_c.d' },
      s3: { endpoint: 'https://s3.example.com:9000', pathStyle: true },
    });
    expect(parse({ store: 's3://bucket', endpoint, pathStyle: false }).s3?.pathStyle).toBe(false);
  });

  it('keep the server for older archives when new ones stay on this host', () => {
    expect(parse({ endpoint: 'http://127.0.0.1:9000', credentialsFile: '/f' })).toEqual({
      folder: null,
      encrypted: false,
      s3: {
        endpoint: 'http://127.0.0.1:9000',
        region: 'us-east-1',
        pathStyle: true,
        credentials: { file: '/f' },
      },
    });
  });

  it('are encrypted where the operator wants it, in either place', () => {
    expect(parse({ encrypted: true })).toEqual({ folder: null, s3: null, encrypted: true });
    expect(parse({ encrypted: true, store: 's3://bucket' })).toMatchObject({ encrypted: true });
  });

  it('prefer the file to the environment', () => {
    expect(parse({ store: 's3://bucket', credentialsFile: '/f' }).s3?.credentials).toEqual({ file: '/f' });
  });

  it.each([
    [{ store: 'bucket' }, '--archive-store'],
    [{ store: 's3://' }, '--archive-store'],
    [{ store: 's3://Bucket' }, '--archive-store'],
    [{ store: 's3://b' }, '--archive-store'],
    [{ store: 's3://bucket/a b' }, '--archive-store'],
    [{ store: 's3://bucket/a//b' }, '--archive-store'],
    [{ store: 's3://bucket/../b' }, '--archive-store'],
    [{ store: `s3://bucket/${'a'.repeat(1_000)}` }, '--archive-store'],
    [{ store: 'https://bucket' }, '--archive-store'],
    [{ endpoint: 's3.example.com' }, '--s3-endpoint'],
    [{ endpoint: 'https://s3.example.com/path' }, '--s3-endpoint'],
    [{ endpoint: 'https://user:canary@s3.example.com' }, '--s3-endpoint'],
    [{ endpoint: 'ftp://s3.example.com' }, '--s3-endpoint'],
    [{ store: 's3://bucket', region: 'a/b' }, '--s3-region'],
  ] as [Partial<ArchiveTexts>, string][])('%o is refused, naming %s', (texts, parameter) => {
    expect(() => parse(texts)).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        fields: expect.objectContaining({ parameter }),
        message: expect.not.stringContaining('canary'),
      }),
    );
  });

  it('are refused without credentials', () => {
    expect(() => parse({ store: 's3://bucket' }, { credentials: null, region: null })).toThrow(
      expect.objectContaining({
        code: 'invalid_argument',
        fields: {
          parameter: '--s3-credentials-file',
          hint: 'Or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
        },
      }),
    );
  });

  it('take the standard variables; half a pair is none', () => {
    expect(parseS3Environment({ AWS_ACCESS_KEY_ID: 'a' })).toEqual({ credentials: null, region: null });
    expect(parseS3Environment({ AWS_SECRET_ACCESS_KEY: 's', AWS_DEFAULT_REGION: 'r' })).toEqual({
      credentials: null,
      region: 'r',
    });
    const all = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' };
    expect(parseS3Environment({ ...all, AWS_REGION: 'r', AWS_DEFAULT_REGION: 'd' })).toEqual({
      credentials: { accessKeyId: 'a', secretAccessKey: 's', sessionToken: 't' },
      region: 'r',
    });
  });
});
