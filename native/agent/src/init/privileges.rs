//! The right to mount, which only the start needs.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    remove_capability_from_bounding_set, set_capabilities,
};

/// No program inside ever gets it again, whatever the container allows.
pub fn give_up_mounting() -> Result<(), String> {
    let failed = |errno| format!("cannot give up CAP_SYS_ADMIN: {errno}");
    let CapabilitySets {
        effective,
        permitted,
        inheritable,
    } = capabilities(None).map_err(failed)?;
    // Programs of root get the capabilities of the bounding set.
    if capability_is_in_bounding_set(CapabilitySet::SYS_ADMIN).map_err(failed)? {
        remove_capability_from_bounding_set(CapabilitySet::SYS_ADMIN).map_err(failed)?;
    }
    if !permitted.contains(CapabilitySet::SYS_ADMIN) {
        return Ok(());
    }
    let kept = CapabilitySets {
        effective: effective.difference(CapabilitySet::SYS_ADMIN),
        permitted: permitted.difference(CapabilitySet::SYS_ADMIN),
        inheritable: inheritable.difference(CapabilitySet::SYS_ADMIN),
    };
    // The ambient set loses what the inheritable set loses.
    set_capabilities(None, kept).map_err(failed)
}
