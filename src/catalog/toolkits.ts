/** Versions of the toolkits that the tools implement, where their contracts have one. */
export const toolkitVersions = { DocumentDb: '0.4.0' } as const;

/** `DocumentDb toolkit 0.4.0` */
export const toolkitLines: readonly string[] = Object.entries(toolkitVersions).map(
  ([toolkit, version]) => `${toolkit} toolkit ${version}`,
);
