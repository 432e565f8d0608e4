//! Lets sandboxes with network rules reach what the rules allow, and nothing else. The firewall redirects
//! their name service to the resolver of this program, and their TCP connections to its gate. It belongs to
//! one service, which sends it the policies, and ends with the service. Without it nothing passes.
//!
//!     sandhaven-egress --gateway ADDRESS --public-except RANGE,… --uid N --gid N
//!
//! docs/internals/egress.md has the commands on standard input, and the messages on standard output.

mod bounds;
mod confine;
mod control;
mod dns;
mod events;
mod failure;
mod gate;
mod http;
mod open;
mod options;
mod policy;
mod resolver;
mod secrets;
mod stream;
mod tls;
mod world;

use bounds::{CONNECTIONS, OTHER_FILES};
use control::{Commands, Output};
use events::Events;
use failure::{Failure, Step};
use gate::Gate;
use open::{Roots, read_roots};
use options::{Options, options};
use resolver::Resolver;
use rustix::net::listen;
use std::io::{Error, ErrorKind, Result as IoResult};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process::ExitCode;
use std::sync::Arc;
use world::World;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

struct Sockets {
    gate: TcpListener,
    dns_udp: UdpSocket,
    dns_tcp: TcpListener,
}

fn run() -> Result<(), Failure> {
    let options = options()?;
    let sockets = bind(options.gateway).step("bind to the gateway's address")?;
    let roots = read_roots();
    let open_files = confine::confine(options.uid, options.gid)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(1)
        .enable_all()
        .build()
        .step("start threads")?;
    let capacity = CONNECTIONS.min((open_files.saturating_sub(OTHER_FILES) / 2) as usize);
    runtime.block_on(serve(options, sockets, capacity.max(1), roots))
}

async fn serve(
    options: Options,
    sockets: Sockets,
    capacity: usize,
    roots: Roots,
) -> Result<(), Failure> {
    let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    let (gate_port, dns_port) = (port(&sockets.gate), port(&sockets.dns_tcp));
    let gate_listener = tokio::net::TcpListener::from_std(sockets.gate).step("listen")?;
    let dns_listener = tokio::net::TcpListener::from_std(sockets.dns_tcp).step("listen")?;
    let dns_socket = tokio::net::UdpSocket::from_std(sockets.dns_udp).step("listen")?;
    let world = World::new(capacity);
    let events = Arc::new(Events::default());
    let public_except: Arc<[_]> = options.public_except.into();
    let resolver = Resolver::new(world.clone(), events.clone(), public_except.clone());
    let gate = Gate::new(
        world.clone(),
        events.clone(),
        public_except,
        options.gateway,
        roots.clone(),
    );
    let output = Output::start();
    tokio::spawn(gate::accept(gate, gate_listener));
    tokio::spawn(resolver::serve_udp(resolver.clone(), dns_socket));
    tokio::spawn(resolver::serve_tcp(resolver.clone(), dns_listener));
    tokio::spawn(control::report_events(output.clone(), events));
    control::report_ready(&output, gate_port.step("listen")?, dns_port.step("listen")?).await;
    control::obey(Commands::read(), output, world, resolver, roots.is_some()).await;
    Ok(())
}

/// Ports of the kernel's choice; the resolver has one number for UDP and TCP.
fn bind(gateway: Ipv4Addr) -> IoResult<Sockets> {
    const TRIES: usize = 16;
    let gate = TcpListener::bind((gateway, 0))?;
    for _ in 0..TRIES {
        let dns_udp = UdpSocket::bind((gateway, 0))?;
        match TcpListener::bind((gateway, dns_udp.local_addr()?.port())) {
            Ok(dns_tcp) => {
                // The long queue lets connections wait during a burst, those of other sandboxes too.
                listen(&gate, bounds::ARRIVALS)?;
                gate.set_nonblocking(true)?;
                dns_udp.set_nonblocking(true)?;
                dns_tcp.set_nonblocking(true)?;
                return Ok(Sockets {
                    gate,
                    dns_udp,
                    dns_tcp,
                });
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::from(ErrorKind::AddrInUse))
}
