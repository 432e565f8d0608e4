//! Rules of the filter, in the form of their table.

/// A rule for calls whose arguments meet all conditions of any case. The first matching rule counts; without one the call
/// is refused with EPERM.
pub struct Rule {
    pub calls: &'static [u32],
    pub cases: &'static [&'static [Condition]],
    /// Error number of the refusal; None where the call is allowed.
    pub refusal: Option<u16>,
}

/// True for an argument with these bits under the mask.
pub struct Condition {
    pub index: u32,
    pub mask: u64,
    pub bits: u64,
}

pub const fn allow(calls: &'static [u32], cases: &'static [&'static [Condition]]) -> Rule {
    Rule {
        calls,
        cases,
        refusal: None,
    }
}

pub const fn refuse(
    errno: u16,
    calls: &'static [u32],
    cases: &'static [&'static [Condition]],
) -> Rule {
    Rule {
        calls,
        cases,
        refusal: Some(errno),
    }
}

pub const fn bits(index: u32, mask: u64, bits: u64) -> Condition {
    Condition { index, mask, bits }
}
