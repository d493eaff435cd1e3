/** Copies in files, and everything of the client that needs no files. */
export * from './index.ts';
export { applyDeltaFile, type AppliedDelta } from './files/apply-delta-file.ts';
export { checkFile } from './files/check-file.ts';
export { DirectoryStore } from './files/directory-store.ts';
export { findInCopy } from './files/find-in-copy.ts';
export { lookUpKept } from './files/look-up-kept.ts';
export { pull, type PulledArtefact, type Wanted } from './files/pull.ts';
