/** Lets this process find the names of a test's domain, which no name server knows, on the loopback. */
import dns from 'node:dns';

const { lookup } = dns;

dns.lookup = (host, options, then) => {
  const done = typeof options === 'function' ? options : then;
  if (!host.endsWith('.localhost')) return lookup(host, options, then);
  const address = { address: '127.0.0.1', family: 4 };
  return process.nextTick(() => (options?.all ? done(null, [address]) : done(null, '127.0.0.1', 4)));
};
