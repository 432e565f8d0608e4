/** BSON written by hand, for what no serializer writes. */

export interface Element {
  code: number;
  name: string | Uint8Array;
  value: Uint8Array;
}

export function documentOf(elements: readonly Element[]): Uint8Array {
  const body = Buffer.concat(
    elements.flatMap(({ code, name, value }) => [
      Buffer.of(code),
      Buffer.from(name as string),
      Buffer.of(0),
      value,
    ]),
  );
  return Buffer.concat([int32(4 + body.length + 1), body, Buffer.of(0)]);
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

export function text(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([int32(bytes.length + 1), bytes, Buffer.of(0)]);
}
