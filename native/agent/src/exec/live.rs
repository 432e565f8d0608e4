//! Sends output of a running program to the host, through a bounded buffer. Where the host wants all of it,
//! the program's pipes are not read while the buffer is full, and the program waits as for any slow reader.
//! Elsewhere nothing waits, and bytes without room are counted.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::live_backlog::Backlog;
use crate::wire::connection::{Connection, Interrupted};
use crate::wire::fault::Fault;
use crate::wire::stream::send;

/// Between two writes, unless a whole piece is due.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Default)]
pub struct Live {
    backlog: RefCell<Backlog>,
    ended: Cell<bool>,
    /// Notified when there is something to send, and at the end.
    changed: Notify,
    /// Notified when something was taken to be sent.
    taken: Notify,
}

/// Output that a request asks for.
#[derive(Clone, Copy)]
pub struct Wish {
    pub live: bool,
    pub whole: bool,
}

impl Live {
    /// None unless the host asks for it.
    pub fn wanted(Wish { live, whole }: Wish) -> Result<Option<Rc<Self>>, Fault> {
        match (live, whole) {
            (false, true) => Err(Fault::invalid("whole", "whole needs live.")),
            (false, false) => Ok(None),
            (true, false) => Ok(Some(Rc::default())),
            (true, true) => Ok(Some(Rc::new(Self {
                backlog: RefCell::new(Backlog::whole()),
                ..Self::default()
            }))),
        }
    }

    /// Takes output. `stream` is 0 for stdout and 1 for stderr.
    pub fn push(&self, stream: usize, bytes: &[u8]) {
        self.backlog.borrow_mut().push(stream, bytes);
        self.changed.notify_one();
    }

    /// Takes a part of the result, as JSON. Unlike output it always finds room, so its owner bounds it.
    pub fn push_item(&self, json: Vec<u8>) {
        self.backlog.borrow_mut().push_item(json);
        self.changed.notify_one();
    }

    /// Resolves when more may be pushed.
    pub async fn room(&self) {
        while self.backlog.borrow().is_full() {
            self.taken.notified().await;
        }
    }

    /// Output that waits to be sent, by stream.
    #[cfg(test)]
    pub fn shown(&self) -> Vec<(usize, String)> {
        self.backlog.borrow().shown()
    }

    /// True when a piece is due at once.
    pub fn due(&self) -> bool {
        self.backlog.borrow().is_due()
    }

    /// Runs `work`, and meanwhile sends the output that it pushes. Returns once all of that is sent. When the
    /// host hangs up first, `work` is dropped.
    pub async fn during<T>(
        &self,
        connection: &mut Connection,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Interrupted> {
        let (reader, writer) = connection.halves();
        let mut relay = pin!(self.relay(writer));
        let result = tokio::select! {
            biased;
            result = work => result,
            // The relay ends before the work only when the host takes no more.
            _ = &mut relay => return Err(Interrupted::Gone),
            _ = reader.fill_buf() => return Err(Interrupted::Gone),
        };
        self.end();
        relay.await?;
        Ok(result?)
    }

    /// Marks the end: nothing is pushed afterwards.
    fn end(&self) {
        self.ended.set(true);
        self.backlog.borrow_mut().account_for_rest();
        self.changed.notify_one();
    }

    /// Sends all pieces up to the end.
    async fn relay(&self, writer: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let mut frames = Vec::new();
        let mut pause = Instant::now();
        loop {
            self.until(|backlog| !backlog.is_empty()).await;
            tokio::select! {
                biased;
                () = self.until(Backlog::is_due) => {}
                () = sleep_until(pause) => {}
            }
            if !self.backlog.borrow_mut().take(&mut frames) {
                return Ok(());
            }
            self.taken.notify_one();
            send(writer, &frames).await?;
            frames.clear();
            pause = Instant::now() + PAUSE;
        }
    }

    /// Resolves at the end, too.
    async fn until(&self, reached: impl Fn(&Backlog) -> bool) {
        while !self.ended.get() && !reached(&self.backlog.borrow()) {
            self.changed.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::fault::Code;
    use crate::wire::frame::read_frame;
    use crate::wire::stream::Stream;

    #[tokio::test(start_paused = true)]
    async fn small_output_is_sent_each_50_milliseconds_and_16_kib_at_once() {
        let live = Live::default();
        let (mut host, mut agent) = tokio::io::duplex(64 << 10);
        let begun = Instant::now();
        let printing = async {
            live.push(0, b"first");
            tokio::time::sleep(Duration::from_millis(10)).await;
            live.push(0, b"second");
            tokio::time::sleep(Duration::from_millis(10)).await;
            live.push(0, b"third");
            tokio::time::sleep(Duration::from_millis(40)).await;
            live.push(0, &[b'x'; 16 << 10]);
            tokio::time::sleep(Duration::from_millis(1)).await;
            live.end();
        };
        let mut seen = Vec::new();
        let reading = async {
            for _ in 0..3 {
                let (mut head, mut data) = (Vec::new(), Vec::new());
                read_frame(&mut host, &mut head).await.unwrap();
                read_frame(&mut host, &mut data).await.unwrap();
                seen.push((begun.elapsed().as_millis(), data.len()));
            }
        };
        let (_, sent, ()) = tokio::join!(printing, live.relay(&mut agent), reading);
        sent.unwrap();
        assert_eq!(seen, [(0, 5), (50, 11), (60, 16 << 10)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_reads_nothing_holds_nothing_up() {
        let live = Live::default();
        let (host, mut agent) = tokio::io::duplex(1 << 10);
        let mut relay = pin!(live.relay(&mut agent));
        for _ in 0..1_000 {
            live.push(0, &[b'x'; 4 << 10]);
            tokio::select! {
                biased;
                _ = &mut relay => panic!("nothing is read"),
                () = tokio::task::yield_now() => {}
            }
        }
        let (held, left_out) = live.backlog.borrow().extent();
        assert!(held <= 1 << 20);
        assert!(left_out > 2 << 20);
        drop(host);
        assert!(relay.await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn output_that_is_wanted_whole_waits_for_the_host_and_loses_nothing() {
        let whole = Wish {
            live: true,
            whole: true,
        };
        let live = Live::wanted(whole).unwrap().unwrap();
        let (mut host, mut agent) = tokio::io::duplex(1 << 10);
        let pushed = Cell::new(0);
        let printing = async {
            for _ in 0..1_000 {
                live.room().await;
                live.push(0, &[b'x'; 4 << 10]);
                pushed.set(pushed.get() + (4 << 10));
            }
            live.end();
        };
        let mut received = 0;
        let reading = async {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            assert!(pushed.get() <= 512 << 10, "{}", pushed.get());
            while received < 4_096_000 {
                let (mut head, mut data) = (Vec::new(), Vec::new());
                read_frame(&mut host, &mut head).await.unwrap();
                assert_eq!(head, br#"{"live":"stdout","left_out":0}"#);
                read_frame(&mut host, &mut data).await.unwrap();
                received += data.len();
            }
        };
        let ((), sent, ()) = tokio::join!(printing, live.relay(&mut agent), reading);
        sent.unwrap();
        assert_eq!(received, 4_096_000);
    }

    /// Frames as a host gets them: the payload of each up to the end of what was sent.
    async fn frames(mut host: tokio::net::UnixStream) -> Vec<String> {
        let mut frames = Vec::new();
        let mut payload = Vec::new();
        while read_frame(&mut host, &mut payload).await.is_ok() {
            frames.push(String::from_utf8(std::mem::take(&mut payload)).unwrap());
        }
        frames
    }

    fn connected() -> (tokio::net::UnixStream, Connection) {
        let (host, agent) = tokio::net::UnixStream::pair().unwrap();
        (host, Connection::new(Stream::Local(agent)))
    }

    #[tokio::test]
    async fn what_was_printed_last_is_sent_before_the_result() {
        let (host, mut connection) = connected();
        let reading = tokio::spawn(frames(host));
        let live = Live::default();
        let work = async {
            live.push(0, b"first");
            tokio::time::sleep(Duration::from_millis(5)).await;
            live.push(1, b"last");
            Ok(3)
        };
        let result = live.during(&mut connection, work).await;
        assert!(matches!(result, Ok(3)));
        connection.reply(&result.ok()).await.ok();
        drop(connection);
        assert_eq!(
            reading.await.unwrap(),
            [
                r#"{"live":"stdout","left_out":0}"#,
                "first",
                r#"{"live":"stderr","left_out":0}"#,
                "last",
                "3",
            ]
        );
    }

    #[tokio::test]
    async fn a_failure_comes_after_what_was_printed() {
        let (host, mut connection) = connected();
        let live = Live::default();
        let work = async {
            live.push(0, b"printed");
            Err::<(), _>(Fault::new(Code::Internal, "The supervisor is lost."))
        };
        let result = live.during(&mut connection, work).await;
        assert!(matches!(result, Err(Interrupted::Fault(_))));
        drop(connection);
        assert_eq!(frames(host).await[1], "printed");
    }

    #[tokio::test]
    async fn a_host_that_hangs_up_ends_the_work() {
        let (host, mut connection) = connected();
        let live = Live::default();
        drop(host);
        let result = live
            .during(&mut connection, std::future::pending::<Result<(), Fault>>())
            .await;
        assert!(matches!(result, Err(Interrupted::Gone)));
    }
}
