//! Accounts of the sandbox's users: found in its own files, made where they are missing.

mod create;
mod find;

use crate::init::account::Account;
use crate::init::base::Base;
use crate::init::workers::Workers;
use crate::wire::fault::Fault;

/// The ids that a machine has.
const MAX_ID: u32 = 65_535;

/// Returns the account of a name or a number, and where its relative paths begin. A name that is missing gets an account now.
pub async fn account_of(workers: &Workers, user: String) -> Result<(Account, Base), Fault> {
    let work = move || {
        let account = match find::find(&user)? {
            Some(account) => account,
            None => create::make(&user)?,
        };
        if account.uid > MAX_ID || account.gid > MAX_ID {
            return Err(Fault::invalid(
                "user",
                format!("The ids of user '{user}' are above {MAX_ID}, the highest of a sandbox."),
            ));
        }
        let base = account.base();
        Ok((account, base))
    };
    workers.short(work).await
}
