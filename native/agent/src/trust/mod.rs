//! Makes programs inside trust an authority of the service, which answers them in place of hosts that take secrets.

mod bundle;
mod certificate;
pub mod install;
mod java;
mod system;
