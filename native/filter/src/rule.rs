//! Rules of the filter, in the form of their table.

/// A rule for calls whose arguments meet all conditions. The first matching rule counts; without one the call
/// is refused with EPERM.
pub struct Rule {
    pub calls: &'static [u32],
    pub conditions: &'static [Condition],
    /// Error number of the refusal; None where the call is allowed.
    pub refusal: Option<u16>,
}

/// True for an argument with these bits under the mask.
pub struct Condition {
    pub index: u32,
    pub mask: u64,
    pub bits: u64,
}

pub const fn allow(calls: &'static [u32], conditions: &'static [Condition]) -> Rule {
    Rule {
        calls,
        conditions,
        refusal: None,
    }
}

pub const fn refuse(errno: u16, calls: &'static [u32], conditions: &'static [Condition]) -> Rule {
    Rule {
        calls,
        conditions,
        refusal: Some(errno),
    }
}
