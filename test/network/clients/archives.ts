/** Archives of a few files each, as registries serve them. */
import { execFileSync } from 'node:child_process';

/** Contents by path. */
export type Files = Record<string, string>;

/** A tar, packed by gzip. */
export function tarOf(files: Files): Buffer {
  return packed('tar', files);
}

export function zipOf(files: Files): Buffer {
  return packed('zip', files);
}

function packed(form: 'tar' | 'zip', files: Files): Buffer {
  return execFileSync('python3', ['-c', code, form], { input: JSON.stringify(files) });
}

const code = `
import io, json, sys, tarfile, zipfile
files = json.load(sys.stdin)
whole = io.BytesIO()
if sys.argv[1] == 'zip':
    with zipfile.ZipFile(whole, 'w') as archive:
        for path, text in files.items():
            archive.writestr(path, text)
else:
    with tarfile.open(fileobj=whole, mode='w:gz') as archive:
        for path, text in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
sys.stdout.buffer.write(whole.getvalue())
`;
