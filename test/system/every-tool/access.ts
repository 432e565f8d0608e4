/** SSH, ports and previews. */
import { expect } from 'vitest';
import type { Walk } from './walk.ts';

const SERVER = 'nohup python3 -m http.server 8123 >/dev/null 2>&1 &';
const UNTIL_SERVED =
  'until curl -s 127.0.0.1:8123 >/dev/null; do sleep 0.1; done; ps -C python3 -o pid= | tail -1';

export const access: Walk = async (ok) => {
  const [{ id } = { id: '' }] = (await ok('ListSandboxes'))['sandboxes'] as { id: string }[];
  const { stdout: pid } = await ok('RunCommand', { command: `${SERVER} ${UNTIL_SERVED}` });
  const { ports } = await ok('ListPorts');
  expect(ports).toContainEqual({
    ...{ port: 8123, state: 'listening', name: 'python3' },
    ...{ pid: Number(pid), command: 'python3 -m http.server 8123' },
  });
  const preview = await ok('GetPortPreviewUrl', { sandbox: id, port: 8123 });
  const { host, port } = new URL(String(preview['url']));
  expect(host).toBe(`8123-${id.slice(3)}.localhost:${port}`);
  expect(preview).toMatchObject({ signed: false, header: 'x-sandbox-preview-token' });
  expect(await ok('GetPortPreviewUrl', { sandbox: id, port: 8123, signed: true })).toMatchObject({
    signed: true,
    token: null,
  });
  await ok('RunCommand', { command: `kill ${pid}` });
  expect(await ok('CreateSshAccess', { sandbox: id, expires_in_minutes: 0 })).toMatchObject({
    host: '127.0.0.1',
    username: id,
    expires_at: null,
  });
};
