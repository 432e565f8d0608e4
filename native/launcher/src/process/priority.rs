//! The service's main thread has a higher priority than its programs should have (`src/app/up.ts`), and a
//! program inherits the priority of the thread that starts it.

use crate::failure::{Failure, Step};
use rustix::process::{getpriority_process, setpriority_process};

/// A lower one, which an operator has chosen, stays.
pub fn make_usual() -> Result<(), Failure> {
    if getpriority_process(None).step("read the priority")? < 0 {
        setpriority_process(None, 0).step("take the usual priority")?;
    }
    Ok(())
}
