//! The whole but the confinement, which needs root.
