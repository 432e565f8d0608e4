/** Rust form of the things that faults of an agent are about: `src/model/errors.ts` stays their only source. */
import { agentResources } from '../../src/model/errors.ts';

export function generateAgentResources(): string {
  return `//! Made by \`make generate\` from src/model/errors.ts. Do not edit.

use serde::Serialize;

/// The kind of thing that a fault is about; the host decides by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
${agentResources.map((name) => `    ${variantOf(name)},\n`).join('')}}
`;
}

function variantOf(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase());
}
