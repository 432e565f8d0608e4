/** Commands before and around a login: the server's description, and the client's authentication. */
import { Binary, deserialize, serialize } from 'bson';
import type { Call, Command } from './command.ts';
import { Fault } from './faults.ts';
import { limits } from './limits.ts';
import { MECHANISM, ScramConversation } from './scram.ts';

const VERSION = '7.0.0';
/** Wire version of MongoDB 7.0. */
const MAX_WIRE_VERSION = 21;
/** Constant, because a connection has one conversation at a time. */
const CONVERSATION_ID = 1;

const hello: Command = {
  needsLogin: false,
  async run(call) {
    const asked = deserialize(call.request.body);
    const isModern = call.request.name === 'hello';
    const speculative = asked['speculativeAuthenticate'];
    const answer = speculative ? await speculate(call, speculative) : null;
    return serialize({
      helloOk: true,
      [isModern ? 'isWritablePrimary' : 'ismaster']: true,
      maxBsonObjectSize: limits.documentBytes,
      maxMessageSizeBytes: limits.messageBytes,
      maxWriteBatchSize: limits.writesPerCommand,
      localTime: new Date(),
      logicalSessionTimeoutMinutes: 30,
      connectionId: call.client.id,
      minWireVersion: 0,
      maxWireVersion: MAX_WIRE_VERSION,
      readOnly: false,
      ...(asked['saslSupportedMechs'] ? { saslSupportedMechs: [MECHANISM] } : {}),
      ...(answer ? { speculativeAuthenticate: answer } : {}),
      ok: 1,
    });
  },
};

/** Leaves out a failed speculative login; the client then starts over with saslStart. */
async function speculate(call: Call, asked: Record<string, unknown>): Promise<object | null> {
  try {
    return await begin(call, asked);
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** Users belong to the whole server, so a login works in any database as in `admin`. */
async function begin({ client, database }: Call, asked: Record<string, unknown>): Promise<object> {
  if (asked['mechanism'] !== MECHANISM) {
    throw new Fault('AuthenticationFailed', `only ${MECHANISM} is understood`);
  }
  const conversation = new ScramConversation(database, textOf(asked['payload']));
  const options = asked['options'] as { skipEmptyExchange?: unknown } | undefined;
  client.login = { conversation, endsAtOnce: options?.skipEmptyExchange === true, isProven: false };
  return {
    conversationId: CONVERSATION_ID,
    done: false,
    payload: binary(await conversation.challenge()),
    ok: 1,
  };
}

const saslStart: Command = {
  needsLogin: false,
  run: async (call) => serialize(await begin(call, deserialize(call.request.body))),
};

const saslContinue: Command = {
  needsLogin: false,
  async run({ client, request }) {
    const { login } = client;
    if (!login) throw new Fault('ProtocolError', 'no login has begun on this connection');
    const asked = deserialize(request.body);
    if (login.isProven) {
      client.login = null;
      return serialize({ conversationId: CONVERSATION_ID, done: true, payload: binary(''), ok: 1 });
    }
    client.login = null;
    const proof = await login.conversation.verify(textOf(asked['payload']));
    client.role = login.conversation.user;
    if (!login.endsAtOnce) client.login = { ...login, isProven: true };
    return serialize({
      ...{ conversationId: CONVERSATION_ID, done: login.endsAtOnce, payload: binary(proof) },
      ok: 1,
    });
  },
};

const logout: Command = {
  needsLogin: false,
  async run({ client }) {
    client.role = null;
    return serialize({ ok: 1 });
  },
};

const connectionStatus: Command = {
  needsLogin: false,
  async run({ client, database, request, signal }) {
    if (client.role === null) {
      return serialize({ authInfo: { authenticatedUsers: [], authenticatedUserRoles: [] }, ok: 1 });
    }
    const { showPrivileges } = deserialize(request.body);
    const asked = serialize({ connectionStatus: 1, showPrivileges: showPrivileges === true });
    const sql = 'SELECT documentdb_api.connection_status($1::bytea::documentdb_core.bson)::bytea AS answer';
    const [row] = await database.run(client.role, sql, [Buffer.from(asked)], signal);
    return row?.['answer'] as Buffer;
  },
};

const buildInfo: Command = {
  needsLogin: false,
  run: async () =>
    serialize({
      version: VERSION,
      versionArray: [...VERSION.split('.').map(Number), 0],
      modules: [],
      bits: 64,
      maxBsonObjectSize: limits.documentBytes,
      ok: 1,
    }),
};

const getParameter: Command = {
  needsLogin: true,
  async run({ request }) {
    const known = {
      featureCompatibilityVersion: { version: VERSION.slice(0, 3) },
      authenticationMechanisms: [MECHANISM],
    };
    const asked = deserialize(request.body);
    const isWanted = ([name]: [string, unknown]): boolean => asked['getParameter'] === '*' || name in asked;
    return serialize({ ...Object.fromEntries(Object.entries(known).filter(isWanted)), ok: 1 });
  },
};

const ping: Command = { needsLogin: false, run: async () => serialize({ ok: 1 }) };

export const handshakeCommands: Record<string, Command> = {
  hello,
  isMaster: hello,
  ismaster: hello,
  saslStart,
  saslContinue,
  logout,
  connectionStatus,
  buildInfo,
  buildinfo: buildInfo,
  getParameter,
  ping,
};

function textOf(payload: unknown): string {
  if (payload instanceof Binary) return payload.toString('utf8');
  throw new Fault('AuthenticationFailed', 'Authentication failed.');
}

function binary(text: string): Binary {
  return new Binary(Buffer.from(text));
}
