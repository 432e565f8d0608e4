//! An SFTP server on standard input and output.

/// How the agent calls itself to become one.
pub const ARGV: [&str; 2] = ["sandhaven-agent", "--sftp-server"];
