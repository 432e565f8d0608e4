/** Plain calls are answered without the SDK's server and streams: byte for byte as with them, and no faulty call among them. */
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../../src/catalog/index.ts';
import { AnswerRoom } from '../../../src/fairness/answer-room.ts';
import { plainCallOf } from '../../../src/surfaces/mcp/call-exchange.ts';
import { carryOutHere } from '../../../src/surfaces/mcp/endpoint.ts';
import { LargeParts } from '../../../src/surfaces/mcp/large-parts.ts';
import { OpenExchanges } from '../../../src/surfaces/mcp/open-exchanges.ts';
import { createSdkHandler, sendWebResponse, signalOf } from '../../../src/surfaces/mcp/sdk-handler.ts';
import { caller } from './mcp-fakes.ts';
import { McpHost, MODERN } from './mcp-host.ts';
import { type Message, messages } from './random-messages.ts';

const host = new McpHost();
let reference: Server;
let referenceUrl: URL;

beforeAll(async () => {
  await host.listen();
  reference = sdkServer();
  await new Promise<void>((resolve) => reference.listen(0, '127.0.0.1', resolve));
  referenceUrl = new URL(`http://127.0.0.1:${(reference.address() as AddressInfo).port}/mcp`);
});

afterAll(async () => {
  reference.closeAllConnections();
  reference.close();
  await host.close();
});

describe('a call', () => {
  it('is answered byte for byte as by the transport of the SDK, well-formed or not', {
    timeout: 120_000,
  }, async () => {
    let [plain, faulty] = [0, 0];
    const same = async (message: Message) => {
      const [answer, expected] = [await answerTo(host.url, message), await answerTo(referenceUrl, message)];
      expect(answer).toEqual(expected);
      if (isPlain(message)) plain++;
      else faulty++;
    };
    // A failure prints the seed, and the smallest message that shows it.
    await fc.assert(fc.asyncProperty(messages, same), { numRuns: 600 });
    expect(plain).toBeGreaterThan(100);
    expect(faulty).toBeGreaterThan(100);
  });

  it.each(['2025-06-18', MODERN])('is plain as official clients of %s send it', async (revision) => {
    const sent: Message[] = [];
    const client = await host.connect(revision, (headers, body) => sent.push({ headers, body }));
    await client.callTool({ name: 'Sandbox_WhoAmI' }, { onprogress: () => {} });
    expect(sent.filter(isPlain)).toHaveLength(1);
  });
});

function isPlain({ headers, body }: Message): boolean {
  try {
    return plainCallOf(headers, JSON.parse(body), tools) !== null;
  } catch {
    return false;
  }
}

/** Every message by the SDK's own server and transport. */
function sdkServer(): Server {
  const { services, log } = host.fakes;
  const sdk = createSdkHandler({ version: '1.2.3', log, open: new OpenExchanges() });
  const hold = new AnswerRoom().hold(caller.id);
  const carryOut = carryOutHere(services, log, { caller, address: null, hold });
  return createServer(async (incoming, response) => {
    const [signal, large, body] = [signalOf(response), new LargeParts(), parsed(await text(incoming))];
    const from = { callerId: caller.id, sessionId: '' };
    const answer = await sdk.fetch(incoming, body, { from, large, carryOut, tools, signal });
    await sendWebResponse(response, answer, large, signal);
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

interface Answer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Without what differs from call to call: ids of requests and sessions, dates. */
function answerTo(url: URL, { headers, body }: Message): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent: false }, async (answer) => {
      const { date, 'mcp-session-id': session, ...others } = answer.headers;
      const bytes = (await text(answer)).replaceAll(/req_\w+/g, 'req');
      resolve({ status: answer.statusCode, headers: others, body: bytes });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
