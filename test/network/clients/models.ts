/** Canned answers of language models, whole and as streams of events, in the forms of their interfaces. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { value } from '../secrets/machine-secrets.ts';

/** The second key is a secret, which no sandbox has and no answer may repeat. */
const nameOfKey: Record<string, string> = { 'sk-tests': 'key-of-tests', [value]: 'its-secret' };

interface Asked {
  stream?: boolean;
}

export async function answerOfModel(
  host: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { stream = false } = (await json(request)) as Asked;
  const { authorization, 'x-api-key': key = authorization?.replace('Bearer ', '') } = request.headers;
  const name = nameOfKey[String(key)];
  if (name === undefined) {
    response.writeHead(401).end();
    return;
  }
  const text = `the model answers ${name}`;
  const isAnthropic = host === 'api.anthropic.com';
  const whole = isAnthropic ? message(text) : completion(text);
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of (isAnthropic ? messageEvents : completionEvents)(text)) response.write(event);
  response.end();
}

const usage = { input_tokens: 1, output_tokens: 3 };
const message = (text: string) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'test-model' },
  ...{ content: [{ type: 'text', text }], stop_reason: 'end_turn', stop_sequence: null, usage },
});
const completion = (text: string) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'test-model' },
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
});

const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = (text: string) => ({
  ...{ type: 'content_block_delta', index: 0 },
  delta: { type: 'text_delta', text },
});
const messageEvents = (text: string) => [
  event({ type: 'message_start', message: { ...message(text), content: [] } } as { type: string }),
  event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as {
    type: string;
  }),
  ...text.split(/(?= )/).map((part) => event(delta(part))),
  event({ type: 'content_block_stop', index: 0 } as { type: string }),
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string }),
  event({ type: 'message_stop' }),
];

const piece = (content: string) => ({
  ...completion(''),
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
});
const completionEvents = (text: string) => [
  ...text.split(/(?= )/).map((part) => `data: ${JSON.stringify(piece(part))}\n\n`),
  'data: [DONE]\n\n',
];
