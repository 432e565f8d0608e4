/** Classifies connection failures by the texts of the operating system and of OpenSSL. */
import { SandhavenError } from '../../model/errors.ts';

const operator = "The service's operator";

interface Reason {
  sign: RegExp;
  detail: string;
  hint: string;
  /** In place of both where the connection string demands TLS. */
  withTls?: Pick<Reason, 'detail' | 'hint'>;
}

const withoutTls = `${operator} sets tls=false in DOCUMENTDB_CONNECTION_STRING if the server does not speak TLS.`;

/** The first match counts. */
const reasons: readonly Reason[] = [
  {
    sign: /\bopen '|\bread EISDIR/,
    detail: 'a file that the connection string names cannot be read',
    hint: `${operator} corrects tlsCAFile or tlsCertificateKeyFile in DOCUMENTDB_CONNECTION_STRING.`,
  },
  {
    sign: /maximum wire version/,
    detail: 'its version is too old',
    hint: `${operator} updates the server: it must speak the protocol of MongoDB 4.4 or newer.`,
  },
  {
    sign: /ENOTFOUND|EAI_AGAIN|ENODATA|ESERVFAIL|getaddrinfo|query(?:Srv|Txt)/,
    detail: 'its host name is not known here',
    hint: `${operator} checks the host in DOCUMENTDB_CONNECTION_STRING and the service's DNS.`,
  },
  {
    sign: /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|certificate|altnames/i,
    detail: 'its TLS certificate is not trusted, or is of another host',
    hint: `${operator} names the authority in DOCUMENTDB_CONNECTION_STRING: tlsCAFile=/path/to/ca.pem.`,
  },
  {
    sign: /EPROTO|ERR_SSL|\bSSL\b|\bTLS\b|wrong version number|packet length too long/i,
    detail: 'the TLS handshake failed',
    hint: withoutTls,
  },
  {
    sign: /ECONNREFUSED/,
    detail: 'nothing accepts connections at its address',
    hint: `${operator} starts it, or corrects host and port in DOCUMENTDB_CONNECTION_STRING.`,
  },
  {
    sign: /EHOSTUNREACH|ENETUNREACH|EACCES|EPERM/,
    detail: 'no route leads to its address',
    hint: `${operator} checks the network between the service and the server.`,
  },
  {
    sign: /Topology is closed|ServerClosed|PoolClosed|client was closed/i,
    detail: 'the service closed its connections',
    hint: 'Call again.',
  },
  {
    sign: /Message size|Invalid message|opcode|Parse/i,
    detail: 'the server at its address does not speak its protocol',
    hint: `${operator} checks the port in DOCUMENTDB_CONNECTION_STRING; tls=true where it demands TLS.`,
  },
  {
    sign: /closed|ECONNRESET|EPIPE|hang up|ECONNABORTED/,
    detail: 'it ended the connection',
    hint: `Try again; ${operator.toLowerCase()} sets tls=true in DOCUMENTDB_CONNECTION_STRING if it demands TLS.`,
    // Whether a server that does not speak TLS answers the first words of it, or ends the connection, is a matter of time.
    withTls: {
      detail: 'it ended the connection, perhaps in the TLS handshake',
      hint: `Try again. ${withoutTls}`,
    },
  },
  {
    sign: /ETIMEDOUT|timed out|timeout/i,
    detail: 'it does not answer',
    hint: `Try again; ${operator.toLowerCase()} checks host, port and what lies between.`,
  },
];

const unknown: Pick<Reason, 'detail' | 'hint'> = {
  detail: 'no server accepts the query',
  hint: `Try again; ${operator.toLowerCase()} checks that the server is up.`,
};

const MAX_CAUSES = 8;
const MAX_SERVERS = 16;

export function unreachable(error: unknown, cause: Error, connectionString: string): SandhavenError {
  const words = wordsOf(error);
  const reason = reasons.find(({ sign }) => sign.test(words));
  const found = (demandsTls(connectionString) ? reason?.withTls : undefined) ?? reason ?? unknown;
  const hint = isSetBehindOneAddress(error)
    ? `${found.hint} Where the members of its replica set have names that are not known here, directConnection=true helps.`
    : found.hint;
  return new SandhavenError(
    'unavailable',
    `The document database cannot be reached: ${found.detail}.`,
    { hint },
    cause,
  );
}

function demandsTls(connectionString: string): boolean {
  const said = /[?&](?:tls|ssl)=(true|false)/i.exec(connectionString)?.[1];
  return said === undefined ? connectionString.startsWith('mongodb+srv:') : said.toLowerCase() === 'true';
}

/** Joins messages and codes of the error, of its causes, and of each server's last error in the topology. */
function wordsOf(error: unknown): string {
  const servers = serversOf(error).map((server) => causesOf(field(server, 'error')));
  // Errors of single servers are more specific than their summary, that none was found in time.
  const words = servers.filter((text) => text !== '');
  return words.length > 0 ? words.join(' ') : causesOf(error);
}

function causesOf(error: unknown): string {
  const words: string[] = [];
  let current = error;
  for (let depth = 0; current instanceof Error && depth < MAX_CAUSES; depth++) {
    words.push(current.name, String(field(current, 'code') ?? ''), current.message);
    current = current.cause;
  }
  return words.join(' ');
}

function serversOf(error: unknown): unknown[] {
  const servers = field(field(error, 'reason'), 'servers');
  return servers instanceof Map ? [...servers.values()].slice(0, MAX_SERVERS) : [];
}

function isSetBehindOneAddress(error: unknown): boolean {
  return String(field(field(error, 'reason'), 'type') ?? '').startsWith('ReplicaSet');
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
