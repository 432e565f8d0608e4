/** The Linux user in whose name something runs inside; an empty one is the sandbox's. */
import { TextInput, type TextInputProps } from '@mantine/core';
import { useSandbox } from './sandbox.ts';

export function UserInput(props: TextInputProps) {
  const { user = 'root' } = useSandbox();
  return <TextInput label="User" placeholder={user} spellCheck={false} autoComplete="off" {...props} />;
}

/** The parameter of a call. */
export function userOf(written: string): { user?: string } {
  const user = written.trim();
  return user === '' ? {} : { user };
}
