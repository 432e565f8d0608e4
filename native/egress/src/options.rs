//! Arguments of the program.

use crate::failure::Failure;
use crate::policy::Range;
use lexopt::prelude::*;
use std::net::Ipv4Addr;

pub struct Options {
    /// The host's address that sandboxes use as their gateway.
    pub gateway: Ipv4Addr,
    /// Ranges that are not public and never reached.
    pub public_except: Vec<Range>,
    pub uid: u32,
    pub gid: u32,
}

pub fn options() -> Result<Options, Failure> {
    let mut args = lexopt::Parser::from_env();
    let (mut gateway, mut public_except, mut uid, mut gid) = (None, None, None, None);
    while let Some(arg) = args.next()? {
        match arg {
            Long("gateway") => gateway = Some(args.value()?.parse()?),
            Long("public-except") => public_except = Some(ranges(&args.value()?.string()?)?),
            Long("uid") => uid = Some(args.value()?.parse()?),
            Long("gid") => gid = Some(args.value()?.parse()?),
            other => return Err(other.unexpected().into()),
        }
    }
    let missing = |name: &str| Failure::new(format!("expected --{name}"));
    let options = Options {
        gateway: gateway.ok_or_else(|| missing("gateway"))?,
        public_except: public_except.ok_or_else(|| missing("public-except"))?,
        uid: uid.ok_or_else(|| missing("uid"))?,
        gid: gid.ok_or_else(|| missing("gid"))?,
    };
    if options.uid == 0 || options.gid == 0 {
        return Err(Failure::new("--uid and --gid are not root's"));
    }
    Ok(options)
}

fn ranges(text: &str) -> Result<Vec<Range>, Failure> {
    let parsed = text.split(',').map(Range::parse).collect::<Option<_>>();
    parsed
        .ok_or_else(|| Failure::new("--public-except takes ranges such as 10.0.0.0/8,127.0.0.0/8"))
}
