/** Who calls. */

export interface User {
  id: string;
  name: string;
  email: string;
}

/** A user, through one of the keys. */
export interface Caller extends User {
  /** Says which key it was without helping to guess it. */
  keyId: string;
}
