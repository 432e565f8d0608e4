//! Runs the two sides of one connection in one task. Each piece that one side has for the other wakes their
//! own task, and the runtime would move such a task to another thread each time.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// After this time others get their turn.
const TURN: Duration = Duration::from_micros(250);

/// Polls again while polling has woken the task itself.
pub async fn in_turns<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let bell = Arc::new(Bell {
        state: AtomicU8::new(IDLE),
        task: Mutex::new(Waker::noop().clone()),
    });
    let waker = Waker::from(bell.clone());
    poll_fn(move |context| {
        let start = Instant::now();
        bell.belong_to(context.waker());
        loop {
            bell.state.store(POLLED, Ordering::SeqCst);
            let outcome = poll(&mut Context::from_waker(&waker));
            if outcome.is_ready() || !bell.was_rung() {
                return outcome;
            }
            if start.elapsed() > TURN {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    })
    .await
}

/// Wakes the task. While the task is being polled it only notes the wake-up.
struct Bell {
    state: AtomicU8,
    task: Mutex<Waker>,
}

const IDLE: u8 = 0;
const POLLED: u8 = 1;
const RUNG: u8 = 2;

impl Bell {
    fn belong_to(&self, waker: &Waker) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        task.clone_from(waker);
    }

    /// True after a wake-up during the poll. Otherwise the next one wakes the task.
    fn was_rung(&self) -> bool {
        self.state
            .compare_exchange(POLLED, IDLE, Ordering::SeqCst, Ordering::SeqCst)
            .is_err()
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(RUNG, Ordering::SeqCst) == IDLE {
            let task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            task.wake_by_ref();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn what_wakes_itself_is_polled_again_in_the_same_turn() {
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(counter.clone());
        let mut left = 3;
        let mut future = Box::pin(in_turns(|context| {
            left -= 1;
            context.waker().wake_by_ref();
            match left {
                0 => Poll::Ready("done"),
                _ => Poll::Pending,
            }
        }));
        let outcome = future.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!(outcome, Poll::Ready("done"));
        assert_eq!(counter.0.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn what_wakes_itself_for_ever_ends_its_turn_and_has_another_one() {
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(counter.clone());
        let mut future = Box::pin(in_turns::<()>(|context| {
            context.waker().wake_by_ref();
            Poll::Pending
        }));
        let outcome = future.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!(outcome, Poll::Pending);
        assert_eq!(counter.0.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_later_wake_is_the_tasks() {
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(counter.clone());
        let mut inner = None;
        let mut future = Box::pin(in_turns::<()>(|context| {
            inner = Some(context.waker().clone());
            Poll::Pending
        }));
        assert!(
            future
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        drop(future);
        inner.unwrap().wake();
        assert_eq!(counter.0.load(Ordering::SeqCst), 1);
    }
}
