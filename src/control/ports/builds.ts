/** Builds from Dockerfiles: their parser, room for a context, and rows of captured steps. */

export interface DockerfileInstruction {
  /** From 1. */
  line: number;
  /** In capitals. */
  keyword: string;
  flags: { name: string; value: string | null }[];
  /** Arguments in one line, without comments; of an instruction with heredocs its first line. */
  text: string;
  heredocs: Heredoc[];
  /** Arguments with their heredocs, as they stand in the file. */
  raw: string;
}

export interface Heredoc {
  name: string;
  content: string;
  /** false: the name is quoted, and variables in the content are not replaced. */
  expands: boolean;
}

export interface Dockerfile {
  /** Backslash or backtick. */
  escapeCharacter: string;
  instructions: DockerfileInstruction[];
}

/** Throws `invalid_argument`, which names the line. */
export type ParseDockerfile = (text: string) => Promise<Dockerfile>;

/** Room for bytes on the host's disk, gone with the process that uses it, however that ends. */
export interface Spool {
  /** Rejects with `resource_exhausted` without room. One at a time; the bytes are the caller's again afterwards. */
  write(bytes: Buffer): Promise<void>;
  read(at: number, length: number): AsyncIterable<Buffer>;
  close(): Promise<void>;
}

export type OpenSpool = () => Promise<Spool>;

/** The captured disk of a step, found again by its key. */
export interface BuildStep {
  captureId: string;
  ownerId: string;
  key: string;
  sizeBytes: number;
  /** Milliseconds since the epoch. */
  usedAt: number;
}

/** No owner finds a step of another. */
export interface BuildStepStore {
  /** Marks it as used now. */
  find(ownerId: string, key: string, now: number): Promise<BuildStep | null>;
  /** Takes the place of the owner's step of this key, which is returned, if there is one. */
  put(step: BuildStep): Promise<BuildStep | null>;
  /** Used longest ago first. */
  list(ownerId: string): Promise<BuildStep[]>;
  /** Returns those of all owners. */
  all(): Promise<BuildStep[]>;
  /** Returns false when there is none. */
  remove(captureId: string): Promise<boolean>;
}
