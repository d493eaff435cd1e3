import { sha256Of } from '../../../runtime/digest.ts';
import type { ArtefactStore } from './artefact-store.ts';
import type { StoredName } from './stored-name.ts';

interface BytesToStore {
  readonly name: Omit<StoredName, 'sha256'>;
  /** Name among the unfinished files. */
  readonly owner: string;
  readonly bytes: Uint8Array;
}

/**
 * Stores a small file under its digest.
 * @throws ServiceError `artefact_not_stored`, `storage_unavailable`, or the error of the disk
 */
export async function storeBytes(
  store: ArtefactStore,
  { name, owner, bytes }: BytesToStore,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const sha256 = sha256Of(bytes);
  const file = await store.start(owner);
  try {
    await file.handle.writeFile(bytes);
    await file.keep({ ...name, sha256 });
  } catch (error) {
    await file.discard();
    throw error;
  }
  return { sha256, bytes: bytes.length };
}
