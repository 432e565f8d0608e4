//! An SFTP server of version 3. The agent runs its own program a second time for it, so calls may block here,
//! and a failure ends only one connection.

mod attributes;
mod bounds;
pub mod entry;
mod failure;
mod fields;
mod files;
mod folders;
mod handles;
mod long_name;
pub mod open;
mod paths;
mod replies;
mod request;
mod server;
