//! Rules of the filter, as the table of them says it.

/// Of the calls whose arguments meet all conditions. Where several fit, the first counts; where none does, the call is
/// refused with EPERM.
pub struct Rule {
    pub calls: &'static [u32],
    pub conditions: &'static [Condition],
    /// Error number of the refusal; None where the call is allowed.
    pub refusal: Option<u16>,
}

/// True of an argument whose bits under the mask are these.
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
