//! Answers the requests to a carrier: one disk, so one of its two operations at a time.

use serde::Deserialize;
use std::cell::Cell;
use std::path::PathBuf;

use super::{pack, unpack};
use crate::init::context::Context;
use crate::link::hello;
use crate::wire::connection::{Connection, Interrupted, Outcome, protocol_fault};
use crate::wire::fault::{Code, Fault};
use crate::wire::stream::Stream;

/// Version of the carrier's operations, which the agent's version does not cover.
const VERSION: u32 = 1;

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    Hello(hello::Request),
    Pack(pack::Request),
    Unpack(unpack::Request),
}

struct Carrier {
    context: Context,
    disk: PathBuf,
    is_busy: Cell<bool>,
}

/// Answers the one request of each connection that it is called with.
/// @param disk Where the disk is mounted.
pub fn start(context: Context, disk: PathBuf) -> impl AsyncFn(Stream) {
    let carrier = Carrier {
        context,
        disk,
        is_busy: Cell::new(false),
    };
    async move |stream| {
        let mut connection = Connection::new(stream);
        match carrier.answer(&mut connection).await {
            Ok(()) => connection.end().await,
            Err(Interrupted::Fault(fault)) => connection.refuse(&fault).await,
            Err(Interrupted::Gone) => {}
        }
    }
}

impl Carrier {
    async fn answer(&self, connection: &mut Connection) -> Outcome {
        let payload = connection.request().await?;
        let request =
            serde_json::from_slice(&payload).map_err(|error| protocol_fault(&error.to_string()))?;
        match request {
            Request::Hello(request) => hello::answer(connection, &self.context, request).await,
            Request::Pack(request) => {
                let _turn = self.turn(request.v)?;
                pack::answer(connection, &self.context, &self.disk, request).await
            }
            Request::Unpack(request) => {
                let _turn = self.turn(request.v)?;
                unpack::answer(connection, &self.context, &self.disk, request).await
            }
        }
    }

    fn turn(&self, version: u32) -> Result<Turn<'_>, Fault> {
        if version != VERSION {
            let detail = format!("This carrier speaks version {VERSION}.");
            return Err(Fault::new(Code::FailedPrecondition, detail));
        }
        if self.is_busy.replace(true) {
            let detail = "The disk is being read or written already.";
            return Err(Fault::new(Code::FailedPrecondition, detail));
        }
        Ok(Turn(&self.is_busy))
    }
}

/// Held until dropped.
struct Turn<'a>(&'a Cell<bool>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::frame::{HEADER_BYTES, Kind};
    use crate::wire::golden::{exchanges, unhex};

    #[test]
    fn golden_requests_to_carriers_are_read() {
        let mut seen = 0;
        for (name, exchange) in exchanges() {
            if !name.starts_with("carrier-") {
                continue;
            }
            for frame in exchange["host"].as_array().unwrap() {
                let bytes = unhex(frame["hex"].as_str().unwrap());
                if bytes[HEADER_BYTES - 1] == Kind::Request as u8 {
                    let read = serde_json::from_slice::<Request>(&bytes[HEADER_BYTES..]);
                    assert!(read.is_ok(), "{name}: {}", read.err().unwrap());
                    seen += 1;
                }
            }
        }
        assert_eq!(seen, 3);
    }

    #[test]
    fn operations_of_sandboxes_are_refused() {
        let request = br#"{"v":1,"op":"exec","argv":["true"],"cwd":"/","env":{}}"#;
        let refused = serde_json::from_slice::<Request>(request).err().unwrap();
        assert!(
            refused
                .to_string()
                .starts_with("unknown variant `exec`, expected one of `hello`, `pack`, `unpack`"),
            "{refused}"
        );
    }
}
