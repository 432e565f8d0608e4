/** Introduces the toolkit as a whole to a model, before it sees any tool. */

export const instructions = `Sandhaven gives you isolated Linux machines (sandboxes) to run code, commands and files in, and a window on a document database that only reads.

- Begin with Sandbox_CreateSandbox; it is ready when the call returns. Wherever a tool takes \`sandbox\`, give its name or id; where it is optional it may be left out while you have exactly one.
- Sandbox_RunCommand runs a shell command as root, with network, apt-get and pip. Sandbox_RunCode runs code in the sandbox's language, each call afresh: keep what must last in files. A failing command is a result with its exit_code, not an error.
- Relative paths start at /workspace. Files survive stop, archive and start.
- A sandbox that nobody uses stops after a while; Sandbox_StartSandbox brings it back. Delete what you no longer need with Sandbox_DeleteSandbox: that is final.
- A document database is read in an order: DocumentDb_DiscoverDatabases, DocumentDb_DiscoverCollections, DocumentDb_GetCollectionSchema of every collection you will use, then DocumentDb_FindDocuments, DocumentDb_CountDocuments or DocumentDb_AggregateDocuments. Read the notes of a result. What is large goes into a sandbox with save_to_sandbox, for Sandbox_RunCode.
- An error says what is wrong in \`detail\` and what to do next in \`hint\`; retry unchanged only where \`retryable\` is true.`;
