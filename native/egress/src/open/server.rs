//! Sends requests to the server of an opened connection.

use super::content::Content;
use super::flow::{Coalesced, Streams};
use super::upstream::Upstream;
use crate::bounds::{HTTP_BUFFER, STREAM_BUFFER, WINDOW};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response, Result};
use hyper_util::rt::TokioIo;
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub enum Server {
    Http1(Mutex<http1::SendRequest<Content>>),
    Http2(http2::SendRequest<Content>),
    /// The reason for which no request is passed on.
    Unsafe(&'static str),
}

/// A future that ends with the connection to the server.
pub type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Server {
    pub async fn start(
        upstream: std::result::Result<Upstream, &'static str>,
        streams: &mut Streams,
    ) -> Result<(Server, Running)> {
        let upstream = match upstream {
            Ok(upstream) => upstream,
            Err(why) => return Ok((Server::Unsafe(why), Box::pin(pending()))),
        };
        if upstream.is_http_2() {
            let mut builder = http2::Builder::new(streams.arriving.clone());
            builder
                .initial_stream_window_size(WINDOW)
                .initial_connection_window_size(WINDOW)
                .max_header_list_size(HTTP_BUFFER as u32)
                .max_send_buf_size(STREAM_BUFFER);
            let output = TokioIo::new(streams.output(upstream.stream));
            let (sender, connection) = builder.handshake(output).await?;
            let running = async move { drop(connection.await) };
            return Ok((Server::Http2(sender), Box::pin(running)));
        }
        let mut builder = http1::Builder::new();
        builder
            .preserve_header_case(true)
            .max_buf_size(HTTP_BUFFER)
            .max_header_size(HTTP_BUFFER);
        let (sender, connection) = builder
            .handshake(TokioIo::new(Coalesced(upstream.stream)))
            .await?;
        let running = async move { drop(connection.with_upgrades().await) };
        Ok((Server::Http1(Mutex::new(sender)), Box::pin(running)))
    }

    pub fn is_http_2(&self) -> bool {
        matches!(self, Server::Http2(_))
    }

    pub fn failure(&self) -> Option<&'static str> {
        match self {
            Server::Unsafe(why) => Some(why),
            _ => None,
        }
    }

    pub async fn send(&self, request: Request<Content>) -> Result<Response<Incoming>> {
        match self {
            Server::Http1(sender) => {
                poll_fn(|context| lock(sender).poll_ready(context)).await?;
                let sending = lock(sender).send_request(request);
                sending.await
            }
            Server::Http2(sender) => sender.clone().send_request(request).await,
            // `failure` has answered it.
            Server::Unsafe(_) => pending().await,
        }
    }
}

fn lock(
    sender: &Mutex<http1::SendRequest<Content>>,
) -> MutexGuard<'_, http1::SendRequest<Content>> {
    sender.lock().unwrap_or_else(PoisonError::into_inner)
}
