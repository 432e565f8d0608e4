//! Upstream resolvers, asked in their order: each question from a fresh socket, with a random id, so that
//! others cannot answer it by guessing.

use crate::bounds::{UPSTREAM_ROUNDS, UPSTREAM_TIMEOUT};
use crate::dns::{Found, is_cut, read_answer, write_question};
use rustix::rand::{GetRandomFlags, getrandom};
use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

#[derive(Default)]
pub struct Upstream(Mutex<Arc<[IpAddr]>>);

const PORT: u16 = 53;
const LONGEST: usize = 65_535;
/// Wrong messages for one question before another resolver is asked, which bounds the guesses of an attacker.
const WRONG_ANSWERS: usize = 64;

impl Upstream {
    pub fn set(&self, resolvers: Vec<IpAddr>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = resolvers.into();
    }

    /// The first complete answer counts.
    pub async fn ask(&self, name: &str) -> Found {
        let resolvers = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for _ in 0..UPSTREAM_ROUNDS {
            for &resolver in resolvers.iter() {
                match timeout(UPSTREAM_TIMEOUT, ask_one(resolver, name)).await {
                    Ok(Ok(Found::Failure) | Err(_)) | Err(_) => {}
                    Ok(Ok(found)) => return found,
                }
            }
        }
        Found::Failure
    }
}

async fn ask_one(resolver: IpAddr, name: &str) -> Result<Found> {
    let id = random_id()?;
    let question = write_question(id, name);
    let any: IpAddr = match resolver {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect((resolver, PORT)).await?;
    socket.send(&question).await?;
    let mut message = vec![0; LONGEST];
    for _ in 0..WRONG_ANSWERS {
        let length = socket.recv(&mut message).await?;
        let message = &message[..length];
        if let Some(found) = read_answer(message, id, name) {
            return Ok(found);
        }
        if is_cut(message) && message.starts_with(&id.to_be_bytes()) {
            return ask_over_tcp((resolver, PORT).into(), id, &question, name).await;
        }
    }
    Err(Error::from(ErrorKind::InvalidData))
}

async fn ask_over_tcp(resolver: SocketAddr, id: u16, question: &[u8], name: &str) -> Result<Found> {
    let mut stream = TcpStream::connect(resolver).await?;
    let framed = [&(question.len() as u16).to_be_bytes()[..], question].concat();
    stream.write_all(&framed).await?;
    let mut message = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut message).await?;
    read_answer(&message, id, name).ok_or(Error::from(ErrorKind::InvalidData))
}

fn random_id() -> Result<u16> {
    let mut bytes = [0; 2];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(u16::from_ne_bytes(bytes))
}
