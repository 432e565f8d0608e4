/**
 * The cluster's name server, a program of the control plane's room: answers for Services and for nothing else.
 * Arguments: a kubeconfig file, and the address to listen on.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { connectApi } from '../api.ts';
import { NAME_ERROR, NO_ERROR, readQuery, TYPE_A, writeAnswer } from './message.ts';
import { type Records, recordsOf } from './records.ts';

const PORT = 53;
const SERVICES = '/api/v1/services';
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';

const [kubeconfig = '', address = ''] = process.argv.slice(2);
const api = connectApi(kubeconfig);
let records: Records = new Map();

let turn = Promise.resolve();
function load(): void {
  turn = turn
    .then(async () => {
      const [services, slices] = await Promise.all([api.get(SERVICES), api.get(SLICES)]);
      records = recordsOf(services.items, slices.items);
    })
    // The watch calls again when it is open again.
    .catch((error) => console.error(error));
}
const forever = new AbortController().signal;
for (const path of [SERVICES, SLICES]) api.watch(path, load, forever);

/** Returns null for what is no query. */
function answer(message: Buffer): Buffer | null {
  const query = readQuery(message);
  if (!query) return null;
  const addresses = records.get(query.name);
  if (!addresses) return writeAnswer(query, NAME_ERROR, []);
  return writeAnswer(query, NO_ERROR, query.type === TYPE_A ? addresses : []);
}

const datagrams = createSocket('udp4', (message, { address: host, port }) => {
  const said = answer(message);
  if (said) datagrams.send(said, port, host);
});
datagrams.on('error', (error) => console.error(error));
datagrams.bind(PORT, address);

/** Each message follows its length. */
createServer((client) => {
  let rest = Buffer.alloc(0);
  client.on('error', () => client.destroy());
  client.on('data', (piece) => {
    rest = Buffer.concat([rest, piece]);
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0);
      const said = answer(rest.subarray(2, end));
      rest = rest.subarray(end);
      if (!said) client.destroy();
      else client.write(Buffer.concat([Buffer.from([said.length >> 8, said.length & 0xff]), said]));
    }
  });
}).listen(PORT, address);
