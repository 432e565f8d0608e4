//! `/proc/stat` of a sandbox: the processor time that it has used, divided evenly between its processors.

use super::figures::Figures;
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write;
use std::time::Duration;

pub struct Clocks {
    /// Time since the host was booted, from which `ps` counts.
    pub boot: Duration,
    /// Since 1970.
    pub real: Duration,
}

impl Clocks {
    pub fn now() -> Self {
        let read = |clock| {
            let time = clock_gettime(clock);
            Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
        };
        Self {
            boot: read(ClockId::Boottime),
            real: read(ClockId::Realtime),
        }
    }
}

/// Counters that the kernel keeps for the whole host alone (interrupts, context switches, forks) are 0. All
/// ten kinds of soft interrupts are there besides their sum, since Prometheus' node exporter reads nothing
/// from a file without them.
pub fn text(figures: &Figures, clocks: &Clocks) -> String {
    let cpus = figures.limits.cpus.max(1);
    let (user, system) = (ticks(figures.user), ticks(figures.system));
    let all = ticks(clocks.boot) * cpus;
    let idle = all.saturating_sub(user + system);
    let mut text = format!("cpu  {user} 0 {system} {idle} 0 0 0 0 0 0\n");
    for cpu in 0..cpus {
        let (user, system, idle) = (user / cpus, system / cpus, idle / cpus);
        let _ = writeln!(text, "cpu{cpu} {user} 0 {system} {idle} 0 0 0 0 0 0");
    }
    let booted = clocks.real.saturating_sub(clocks.boot).as_secs();
    let _ = write!(
        text,
        "intr 0\nctxt 0\nbtime {booted}\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n\
         softirq 0 0 0 0 0 0 0 0 0 0 0\n"
    );
    text
}

/// Ticks of USER_HZ, which is 100 wherever Linux runs.
fn ticks(time: Duration) -> u64 {
    time.as_millis() as u64 / 10
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own_figures::figures::Limits;

    #[test]
    fn divides_the_time_between_the_processors() {
        let figures = Figures {
            limits: Limits {
                memory_bytes: 0,
                cpus: 2,
            },
            user: Duration::from_secs(6),
            system: Duration::from_secs(2),
            ..Figures::default()
        };
        let clocks = Clocks {
            boot: Duration::from_secs(100),
            real: Duration::from_secs(1_000),
        };
        assert_eq!(
            text(&figures, &clocks),
            "cpu  600 0 200 19200 0 0 0 0 0 0\n\
             cpu0 300 0 100 9600 0 0 0 0 0 0\n\
             cpu1 300 0 100 9600 0 0 0 0 0 0\n\
             intr 0\nctxt 0\nbtime 900\nprocesses 0\nprocs_running 1\nprocs_blocked 0\n\
             softirq 0 0 0 0 0 0 0 0 0 0 0\n"
        );
    }
}
