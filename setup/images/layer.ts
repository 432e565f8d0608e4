/**
 * Packs a folder into a layer of an OCI image: a tar with sorted names, compressed by zstd. The same files give the same
 * bytes on every machine; gzip would not, since zlib's results depend on the processor.
 */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress } from 'node:zlib';
import { startProgram } from '../../src/runtime/start-program.ts';

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

export interface Layer extends Descriptor {
  /** Digest of the tar itself. */
  diffId: string;
}

const LEVEL = 9;
const PIECE_BYTES = 1024 * 1024;

/**
 * @param blobs Folder that receives the layer, under its digest.
 * @param epoch Seconds since 1970 that all files get as their time; null to keep their own.
 */
export async function packLayer(root: string, blobs: string, epoch: number | null): Promise<Layer> {
  const names = (await readdir(root)).sort();
  const tar = await startProgram('tar', [
    ...['--sort=name', '--numeric-owner', '--format=posix', '--xattrs', '--xattrs-include=*'],
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
    ...(epoch === null ? [] : [`--mtime=@${epoch}`]),
    ...['-C', root, '-cf', '-', '--', ...names],
  ]);
  const ended = new Promise<number | null>((resolve) => tar.once('close', resolve));
  tar.stderr.pipe(process.stderr);
  const plain = createHash('sha256');
  const packed = createHash('sha256');
  const work = join(blobs, '.layer');
  await pipeline(
    tar.stdout,
    digesting(plain),
    inEqualPieces(),
    createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }),
    digesting(packed),
    createWriteStream(work),
  );
  if ((await ended) !== 0) throw new Error(`tar could not read ${root}`);
  const digest = packed.digest('hex');
  const { size } = await stat(work);
  await rename(work, join(blobs, digest));
  return {
    mediaType: 'application/vnd.oci.image.layer.v1.tar+zstd',
    digest: `sha256:${digest}`,
    size,
    diffId: `sha256:${plain.digest('hex')}`,
  };
}

function digesting(hash: ReturnType<typeof createHash>): Transform {
  return new Transform({
    transform(chunk, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
}

/** The compressor's results depend on how its input is cut, and a pipe cuts by chance. */
function inEqualPieces(): Transform {
  let held: Buffer[] = [];
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held.push(chunk);
      bytes += chunk.length;
      if (bytes >= PIECE_BYTES) {
        const all = Buffer.concat(held);
        const whole = bytes - (bytes % PIECE_BYTES);
        for (let at = 0; at < whole; at += PIECE_BYTES) this.push(all.subarray(at, at + PIECE_BYTES));
        held = [all.subarray(whole)];
        bytes -= whole;
      }
      done();
    },
    flush(done) {
      done(null, Buffer.concat(held));
    },
  });
}
