/** Rust form of the grace period that an agent gives programs: `src/model/limits.ts` stays its only source. */
import { limits } from '../../src/model/limits.ts';

export function generateAgentGrace(): string {
  return `//! Made by \`make generate\` from src/model/limits.ts. Do not edit.

use std::time::Duration;

/// Between SIGTERM to all and SIGKILL; less than the host's own grace period for PID 1.
pub const GRACE: Duration = Duration::from_millis(${grouped(limits.programsGraceMs)});
`;
}

/** As Clippy wants long numbers. */
function grouped(value: number): string {
  return value.toLocaleString('en').replaceAll(',', '_');
}
