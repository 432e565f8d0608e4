/** Chooses what a new key may be used for: all that its owner may do, or the scopes that are ticked. */
import { Checkbox } from '@mantine/core';
import { type Scope, scopeMeanings } from './scopes.ts';

interface ScopeChoiceProps {
  offered: Scope[];
  /** The sign-in is limited itself, so a key without a limit would be refused. */
  mustLimit: boolean;
  isLimited: boolean;
  limit(isLimited: boolean): void;
  chosen: string[];
  choose(scopes: string[]): void;
}

export function ScopeChoice({ offered, mustLimit, isLimited, limit, chosen, choose }: ScopeChoiceProps) {
  return (
    <>
      <Checkbox
        label="Limit what it may be used for"
        description={
          mustLimit
            ? 'This sign-in is limited, and its keys cannot do more'
            : 'Without a limit, it may do all that its owner may do'
        }
        checked={isLimited}
        disabled={mustLimit}
        onChange={({ currentTarget }) => limit(currentTarget.checked)}
      />
      {isLimited && (
        <Checkbox.Group label="Scopes" value={chosen} onChange={choose}>
          <div className="stack" style={{ marginTop: 'var(--mantine-spacing-xs)' }}>
            {offered.map((scope) => (
              <Checkbox key={scope} value={scope} label={scope} description={scopeMeanings[scope]} />
            ))}
          </div>
        </Checkbox.Group>
      )}
    </>
  );
}
