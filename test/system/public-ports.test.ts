/** A port of a real sandbox that its owner opens to everybody, and closes. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { visit } from '../gateways/visitor.ts';
import { act, mustAct } from '../support/people.ts';
import { must, type Service, startService } from '../support/service.ts';

const PORT = 8400;

let service: Service;

beforeAll(async () => {
  service = await startService({ flags: ['--public-ports', 'yes'] });
}, 120_000);

afterAll(() => service?.stop());

it('answers everybody at the address of its preview while it is open, and nobody else at any other', async () => {
  const { id } = await must(service, 'CreateSandbox', { name: 'box', cpu: 1, memory_gb: 1, disk_gb: 1 });
  const serve = `nohup python3 -m http.server ${PORT} >/dev/null 2>&1 & until curl -s 127.0.0.1:${PORT} >/dev/null; do sleep 0.1; done`;
  await must(service, 'RunCommand', { command: serve });
  const { url, token } = await must(service, 'GetPortPreviewUrl', { sandbox: 'box', port: PORT });
  const stranger = () => visit(String(url));
  expect((await stranger()).status).toBe(401);
  const open = { sandbox: id, all: false, ports: [PORT], allowed: true };
  expect(await mustAct(service, 'SetPublicPorts', { sandbox: 'box', ports: [PORT] })).toEqual(open);
  expect(await mustAct(service, 'GetPublicPorts', { sandbox: 'box' })).toEqual(open);
  expect(await stranger()).toMatchObject({ status: 200, text: expect.stringContaining('Directory listing') });
  expect((await visit(String(url), { headers: { 'x-sandbox-preview-token': 'wrong' } })).status).toBe(200);
  expect((await visit(String(url).replace(`${PORT}-`, '8401-'))).status).toBe(401);
  // The API's own site has no previews, by whatever name it is asked.
  const { host } = new URL(String(url));
  expect((await visit(service.url, { headers: { host } })).status).toBe(421);
  await mustAct(service, 'SetPublicPorts', { sandbox: 'box' });
  expect((await stranger()).status).toBe(401);
  expect((await visit(String(url), { headers: { 'x-sandbox-preview-token': String(token) } })).status).toBe(
    200,
  );
  const { rows } = await mustAct(service, 'ListAudit', { key: 'public' });
  expect(rows).toMatchObject([{ action: 'preview.grant', sandbox_id: id, client_address: null }]);
  expect(await act(service, 'SetPublicPorts', { sandbox: 'box', ports: [80], all: true })).toMatchObject({
    status: 400,
  });
  await must(service, 'DeleteSandbox', { sandbox: 'box' });
});
