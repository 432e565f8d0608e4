/** A program for a real sandbox that tries ways around its rules with the sockets it has. It prints the outcomes as JSON. */

/** Facts of the host that it needs. */
export interface Facts {
  hostAddresses: string[];
  hostPort: number;
  /** Listeners of the service on the host's loopback. */
  servicePorts: number[];
  gateway: string;
  gatewayPorts: number[];
  neighbour: string;
  neighbourPort: number;
  abstractSocket: string;
  /** A hello of TLS for a name of no rule, as hexadecimal digits. */
  hello: string;
}

export function commandOf(facts: Facts): string {
  return `python3 - '${JSON.stringify(facts)}' <<'PROGRAM'\n${program}\nPROGRAM`;
}

const program = `
import concurrent.futures, errno, json, os, socket, subprocess, sys
facts = json.loads(sys.argv[1])
hello = bytes.fromhex(facts['hello'])
request = b'GET / HTTP/1.1\\r\\nHost: evil.test\\r\\n\\r\\n'

def named(error):
    return errno.errorcode.get(error.errno, type(error).__name__) if error.errno else type(error).__name__

# The kernel bounds how often it says that it refuses.
unanswered = ('EHOSTUNREACH', 'TimeoutError')

def tcp(address, port, said=request, family=socket.AF_INET):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.settimeout(3)
            one.connect((address, port))
            one.sendall(said)
            answer = one.recv(400)
            return 'alert' if answer[:1] == b'\\x15' else answer[9:12].decode() or 'nothing'
    except OSError as error:
        return 'unreachable' if named(error) in unanswered else named(error)

def udp(address, port, said=b'?', family=socket.AF_INET):
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            one.settimeout(1)
            one.connect((address, port))
            one.send(said)
            one.recv(400)
            return 'answered'
    except OSError as error:
        return 'unreachable' if named(error) in unanswered else named(error)

# An echo request by a socket of its own, which needs no right.
def ping(address):
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1) as one:
            one.settimeout(1)
            one.connect((address, 0))
            one.send(bytes([8, 0, 0, 0, 0, 0, 0, 1]))
            one.recv(400)
            return 'answered'
    except OSError as error:
        return 'unreachable' if named(error) in unanswered else named(error)

def opened(family, kind, protocol=0):
    try:
        socket.socket(family, kind, protocol).close()
        return 'opened'
    except OSError as error:
        return named(error)

def option(level, name, value):
    try:
        with socket.socket() as one:
            one.setsockopt(level, name, value)
        return 'set'
    except OSError as error:
        return named(error)

def ran(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return 'done' if done.returncode == 0 else 'refused'

def file(path):
    try:
        os.close(os.open(path, os.O_RDWR))
        return 'opened'
    except OSError as error:
        return named(error)

def unix(path):
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(path)
        return 'connected'
    except OSError as error:
        return named(error)

# The outcomes of several tries, each once.
def all_of(tries):
    with concurrent.futures.ThreadPoolExecutor(len(tries) or 1) as own:
        return ' '.join(sorted(set(own.map(lambda one: one[0](*one[1:]), tries))))

ways = {
    'a raw socket': lambda: opened(socket.AF_INET, socket.SOCK_RAW, 1),
    'a raw socket with heads of its own': lambda: opened(socket.AF_INET, socket.SOCK_RAW, 255),
    'a packet socket': lambda: opened(17, socket.SOCK_RAW, 768),
    'a packet socket without heads': lambda: opened(17, socket.SOCK_DGRAM, 768),
    'a raw socket of IPv6': lambda: opened(socket.AF_INET6, socket.SOCK_RAW, 58),
    'a socket of SCTP': lambda: opened(socket.AF_INET, socket.SOCK_STREAM, 132),
    'a socket of DCCP': lambda: opened(socket.AF_INET, 6, 33),
    'a socket to the hypervisor (vsock)': lambda: opened(40, socket.SOCK_STREAM),
    'a socket of XDP': lambda: opened(44, socket.SOCK_RAW),
    'a socket of Bluetooth': lambda: opened(31, socket.SOCK_RAW, 1),
    'a socket of keys (IPsec)': lambda: opened(15, socket.SOCK_RAW, 2),
    'IPv6 to a public address': lambda: tcp('2001:db8::66', 443, family=socket.AF_INET6),
    'IPv6 to all on the link': lambda: udp('ff02::1%eth0', 53, family=socket.AF_INET6),
    'a mapped IPv4 address over IPv6': lambda: tcp('::ffff:203.0.113.66', 80, family=socket.AF_INET6),
    'a new route': lambda: ran('ip', 'route', 'add', '198.51.100.0/24', 'dev', 'eth0'),
    'another address': lambda: ran('ip', 'address', 'add', '10.213.99.99/32', 'dev', 'eth0'),
    'another hardware address': lambda: ran('ip', 'link', 'set', 'eth0', 'address', '02:00:00:00:00:01'),
    'a tunnel of GRE': lambda: ran('ip', 'tunnel', 'add', 'gre9', 'mode', 'gre', 'remote', '203.0.113.66', 'local', 'any'),
    'a tunnel of WireGuard': lambda: ran('ip', 'link', 'add', 'wg9', 'type', 'wireguard'),
    'a bridge': lambda: ran('ip', 'link', 'add', 'br9', 'type', 'bridge'),
    'a device of tunnels (TUN)': lambda: file('/dev/net/tun'),
    'a device of virtual machines': lambda: file('/dev/vhost-net'),
    'IPv6 switched on': lambda: file('/proc/sys/net/ipv6/conf/all/disable_ipv6'),
    'forwarding switched on': lambda: file('/proc/sys/net/ipv4/ip_forward'),
    'a mark for the firewall': lambda: option(socket.SOL_SOCKET, 36, 1),
    'a transparent socket': lambda: option(socket.SOL_IP, 19, 1),
    'a public address by HTTP': lambda: tcp('203.0.113.66', 80),
    'a public address by TLS': lambda: tcp('203.0.113.66', 443, hello),
    'a public address by another protocol': lambda: tcp('203.0.113.66', 25, b'\\0'),
    'DNS over UDP to another resolver': lambda: udp('203.0.113.53', 53, bytes([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1])),
    'DNS over TLS to another resolver': lambda: tcp('203.0.113.53', 853, hello),
    'an echo request (ping)': lambda: all_of([(ping, one) for one in ['203.0.113.66', '169.254.169.254', facts['gateway'], facts['neighbour'], *facts['hostAddresses']]]),
    'QUIC': lambda: udp('203.0.113.66', 443, bytes([0xc3, 0, 0, 0, 1]) + bytes(1200)),
    'the time of a server (NTP)': lambda: udp('203.0.113.66', 123, bytes([0x23]) + bytes(47)),
    'all on the link by broadcast': lambda: udp('255.255.255.255', 9),
    'a group of addresses (multicast)': lambda: udp('239.1.2.3', 9),
    'the metadata service': lambda: tcp('169.254.169.254', 80),
    'the metadata services at other addresses': lambda: all_of([(tcp, '168.63.129.16', 80), (tcp, '100.100.100.200', 80)]),
    'a private network': lambda: all_of([(tcp, '10.0.0.1', 80), (tcp, '172.16.0.1', 80), (tcp, '192.168.0.1', 80)]),
    'a program of the host at the host’s addresses': lambda: all_of([(tcp, one, facts['hostPort']) for one in facts['hostAddresses']]),
    'the API, previews and SSH at the host’s addresses': lambda: all_of([(tcp, one, port) for one in facts['hostAddresses'] for port in facts['servicePorts']]),
    'the API, previews and SSH on the loopback': lambda: all_of([(tcp, '127.0.0.1', port) for port in facts['servicePorts']]),
    'the gateway at ports of others': lambda: all_of([(tcp, facts['gateway'], port) for port in (22, 80, 443)]),
    'the gate and the resolver at their own ports': lambda: all_of([(way, facts['gateway'], port) for way in (tcp, udp) for port in facts['gatewayPorts']]),
    'a program of a neighbour': lambda: tcp(facts['neighbour'], facts['neighbourPort']),
    'an abstract Unix socket of the host': lambda: unix('\\0' + facts['abstractSocket']),
}
with concurrent.futures.ThreadPoolExecutor(len(ways)) as pool:
    outcomes = dict(zip(ways, pool.map(lambda way: way(), ways.values())))
print(json.dumps(outcomes))
`;
