//! `fetch SOCKET PROGRAM [ARGUMENT…]`: runs a program that fetches from addresses that others choose, in a
//! network namespace of its own. Its only way out is a proxy on loopback there, which asks the service at the
//! socket about each host.
//!
//! The program would connect to loopback without the proxy, but in its namespace nothing else listens there.
//! The launcher stays in the host's namespace, and connects to the addresses that the service has allowed.

use crate::failure::{Failure, Step, failed, usage};
use crate::slots::loopback_up;
use lexopt::prelude::*;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The namespace has no other listener, so the number needs no choice.
const PORT: u16 = 3128;
/// Connections at once; skopeo fetches six layers at once.
const MOST_CONNECTIONS: usize = 64;
/// Most bytes of a request to the proxy, and of an answer of the service.
const MOST_BYTES: usize = 8 << 10;
const REQUEST_TIME: Duration = Duration::from_secs(10);
/// Longer than the time after which the service gives up a lookup.
const ANSWER_TIME: Duration = Duration::from_secs(60);
const CONNECT_TIME: Duration = Duration::from_secs(10);

pub fn run(mut args: lexopt::Parser) -> Result<(), Failure> {
    let expected = || usage("expected a socket and a program");
    let Some(Value(socket)) = args.next()? else {
        return Err(expected());
    };
    let Some(Value(program)) = args.next()? else {
        return Err(expected());
    };
    let rest: Vec<OsString> = args.raw_args()?.collect();
    // Namespaces belong to threads: only this thread enters the new one, and the program with it.
    let started = thread::spawn(move || start(&program, &rest)).join();
    let (listener, mut child) =
        started.map_err(|_| failed("the start of the program broke off"))??;
    thread::spawn(move || accept(&listener, Path::new(&socket)));
    let status = child.wait().step("wait for the program")?;
    std::process::exit(status.code().unwrap_or(1));
}

fn start(program: &OsString, args: &[OsString]) -> Result<(TcpListener, Child), Failure> {
    // SAFETY: the call takes a number, and changes the calling thread alone.
    match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
    .step("make a network namespace")?;
    loopback_up().step("start loopback")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).step("listen as a proxy")?;
    let proxy = format!("http://{}:{PORT}", Ipv4Addr::LOCALHOST);
    let child = Command::new(program)
        .args(args)
        .envs(["HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, &proxy)))
        .spawn()
        .step(format!("execute {}", program.display()))?;
    Ok((listener, child))
}

fn accept(listener: &TcpListener, service: &Path) {
    let open = Arc::new(());
    for client in listener.incoming().flatten() {
        if Arc::strong_count(&open) > MOST_CONNECTIONS {
            continue;
        }
        let (place, service) = (Arc::clone(&open), service.to_owned());
        thread::spawn(move || {
            // The program itself reports broken connections.
            let _ = serve(client, &service, REQUEST_TIME);
            drop(place);
        });
    }
}

/// `request_time`: for each read of the request alone; what follows may pause.
fn serve(mut client: TcpStream, service: &Path, request_time: Duration) -> io::Result<()> {
    client.set_read_timeout(Some(request_time))?;
    let request = read_request(&mut client)?;
    let Some(target) = target_of(&request) else {
        return client.write_all(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n");
    };
    let answer = ask(service, target)?;
    let (addresses, words) = answer.split_once('\n').unwrap_or_default();
    if addresses.is_empty() {
        return client.write_all(words.as_bytes());
    }
    let Some(mut server) = addresses.split(' ').find_map(connect) else {
        return client.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    };
    if words.is_empty() {
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    } else {
        // An upstream proxy sends the answer itself.
        server.write_all(words.as_bytes())?;
    }
    client.set_read_timeout(None)?;
    let (from_client, to_server) = (client.try_clone()?, server.try_clone()?);
    let up = thread::spawn(move || pass(from_client, to_server));
    pass(server, client);
    let _ = up.join();
    Ok(())
}

/// Reads to the end of the headers and no further: the next bytes are for the server.
fn read_request(client: &mut TcpStream) -> io::Result<String> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if request.len() == MOST_BYTES {
            return Err(io::Error::other("the request is too long"));
        }
        client.read_exact(&mut byte)?;
        request.push(byte[0]);
    }
    String::from_utf8(request).map_err(io::Error::other)
}

/// Returns host and port of a CONNECT; None for any other request.
fn target_of(request: &str) -> Option<&str> {
    let (target, _) = request.strip_prefix("CONNECT ")?.split_once(' ')?;
    (!target.contains(['\r', '\n'])).then_some(target)
}

/// Parses a line of addresses, and the text after it: for the first address that answers, or without
/// addresses for the program.
fn ask(service: &Path, target: &str) -> io::Result<String> {
    let mut service = UnixStream::connect(service)?;
    service.set_read_timeout(Some(ANSWER_TIME))?;
    service.write_all(format!("{target}\n").as_bytes())?;
    let mut answer = String::new();
    service
        .take(MOST_BYTES as u64)
        .read_to_string(&mut answer)?;
    Ok(answer)
}

fn connect(address: &str) -> Option<TcpStream> {
    let address: SocketAddr = address.parse().ok()?;
    TcpStream::connect_timeout(&address, CONNECT_TIME).ok()
}

/// Relays bytes as fast as they are taken, and then the end.
fn pass(mut from: TcpStream, mut to: TcpStream) {
    let passed = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    if passed.is_err() {
        let _ = from.shutdown(Shutdown::Read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    const REQUEST_TIME: Duration = Duration::from_millis(100);

    #[test]
    fn a_request_to_connect_has_a_target_and_no_other_has() {
        let target = target_of("CONNECT registry.example:443 HTTP/1.1\r\nHost: other\r\n\r\n");
        assert_eq!(target, Some("registry.example:443"));
        assert_eq!(
            target_of("GET http://registry.example/ HTTP/1.1\r\n\r\n"),
            None
        );
        assert_eq!(target_of("CONNECT a:1\r\nHost: b HTTP/1.1\r\n\r\n"), None);
    }
    #[test]
    fn a_connection_may_pause_for_longer_than_a_request() {
        let echo = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = echo.local_addr().unwrap();
        thread::spawn(move || {
            let (stream, _) = echo.accept().unwrap();
            pass(stream.try_clone().unwrap(), stream);
        });
        let socket = std::env::temp_dir().join(format!("sandhaven-fetch-{}", std::process::id()));
        let service = UnixListener::bind(&socket).unwrap();
        thread::spawn(move || {
            let (mut asked, _) = service.accept().unwrap();
            asked.read_exact(&mut [0; 4]).unwrap();
            writeln!(asked, "{address}").unwrap();
        });
        let proxy = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(proxy.local_addr().unwrap()).unwrap();
        let (accepted, _) = proxy.accept().unwrap();
        let served = {
            let socket = socket.clone();
            thread::spawn(move || serve(accepted, &socket, REQUEST_TIME))
        };
        client.write_all(b"CONNECT a:1 HTTP/1.1\r\n\r\n").unwrap();
        let mut opened = [0; 19];
        client.read_exact(&mut opened).unwrap();
        assert_eq!(&opened, b"HTTP/1.1 200 OK\r\n\r\n");
        thread::sleep(3 * REQUEST_TIME);
        client.write_all(b"late").unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut echoed = String::new();
        client.read_to_string(&mut echoed).unwrap();
        std::fs::remove_file(&socket).unwrap();
        assert_eq!(echoed, "late");
        assert!(served.join().unwrap().is_ok());
    }
}
