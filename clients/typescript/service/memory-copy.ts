import { collectBytes, joinBytes } from '../../../format/base/bytes.ts';
import { ClientError, isClientError } from '../../../format/base/errors.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { findPublishedCache, type ArtefactName } from '../../../format/artefact/caches.ts';
import { applyDelta, divideSteps } from '../../../format/artefact/delta-lines.ts';
import { readGzip } from '../../../format/gzip/gzip-reading.ts';
import { findRow, type Row } from '../../../format/artefact/find-row.ts';
import type { OfferedDelta, ServedManifest } from './manifest.ts';
import { fetchManifest, type KnownManifest, type ManifestSource } from './manifest-source.ts';
import { onPresentVersion, readWhole } from './served-file.ts';
import { planUpdate } from './update-plan.ts';

/** How a copy in memory was made or updated. */
export type MemoryUpdate = 'unchanged' | 'delta' | 'full';

/**
 * A whole artefact in memory, for a page or a process that looks many numbers up. Its text is that of the manifest: digests
 * are checked before it replaces the previous one.
 */
export class MemoryCopy {
  readonly #source: ManifestSource;
  readonly artefact: ArtefactName;
  #known: KnownManifest | undefined;
  #rows: Uint8Array = new Uint8Array(0);

  /** `trust`: what is signed, from `PublicationTrust.open`; undefined: the service is not verified. */
  constructor(source: ManifestSource, artefact: ArtefactName) {
    this.#source = source;
    this.artefact = artefact;
  }

  /** Undefined before the first {@link update}. */
  get manifest(): ServedManifest | undefined {
    return this.#known?.manifest;
  }

  /** The text: rows ascending by their first column, tab separated, a line feed after each. */
  get rows(): Uint8Array {
    return this.#rows;
  }

  /**
   * Brings the copy to the published version with the least bytes: nothing, a delta, or the whole file.
   * @throws ClientError `download_failed`, `download_damaged`, those of the trust, or the service's own; the copy is as it was
   */
  async update(): Promise<MemoryUpdate> {
    const { trust } = this.#source;
    if (this.#known !== undefined) await trust?.refresh(); // it was opened a moment ago, or long ago
    return onPresentVersion({ trust, artefact: this.artefact }, () => this.#updateOnce());
  }

  /** The row about a number in E.164: in `spam_ranges` that of its range. Null if there is none. */
  find(phone: string): Row | null {
    if (this.#known === undefined) return null;
    return findRow(this.#rows, findPublishedCache(this.artefact.cache).keyOf(phone), this.#known.manifest.columns);
  }

  async #updateOnce(): Promise<MemoryUpdate> {
    const known = await fetchManifest(this.#source, this.artefact, this.#known);
    const plan = planUpdate(this.#known?.manifest, known.manifest);
    let how: MemoryUpdate = plan.kind;
    if (plan.kind !== 'unchanged') {
      const rows = plan.kind === 'delta' ? await this.#tryDelta(plan.delta, known.manifest) : undefined;
      if (rows === undefined) how = 'full';
      this.#rows = rows ?? (await this.#downloadWhole(known.manifest));
    }
    this.#known = known;
    return how;
  }

  /** Undefined if the delta is damaged or does not fit: then the whole file is taken. */
  async #tryDelta(delta: OfferedDelta, { file }: ServedManifest): Promise<Uint8Array | undefined> {
    try {
      return await applyToRows(this.#rows, await readWhole(this.#source.client, delta), file);
    } catch (error) {
      const isRefused = ['delta_invalid', 'delta_gone', 'download_damaged'] as const;
      if (isRefused.some((code) => isClientError(error, code))) return undefined;
      throw error;
    }
  }

  async #downloadWhole({ file }: ServedManifest): Promise<Uint8Array> {
    const rows = await collectBytes(readGzip(inOneChunk(await readWhole(this.#source.client, file))));
    if (sha256Of(rows) !== file.plainSha256) throw otherRows('download_damaged');
    return rows;
  }
}

async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/**
 * The text of a version, from that of an earlier one and a delta in gzip, which is checked by the digest of the text.
 * @throws ClientError `delta_invalid`
 */
export async function applyToRows(
  rows: Uint8Array,
  delta: Uint8Array,
  { plainSha256 }: Pick<ServedManifest['file'], 'plainSha256'>,
): Promise<Uint8Array> {
  let text = rows;
  for (const step of await listSteps(delta)) text = await collectBytes(applyDelta([text], [step]));
  if (sha256Of(text) !== plainSha256) throw otherRows('delta_invalid');
  return text;
}

/** The deltas of the single steps of a delta over several versions. */
async function listSteps(delta: Uint8Array): Promise<Uint8Array[]> {
  const steps: Uint8Array[][] = [];
  for await (const { step, text } of divideSteps(readGzip(inOneChunk(delta)))) (steps[step] ??= []).push(text);
  return steps.map((parts) => joinBytes(parts));
}

function otherRows(code: 'download_damaged' | 'delta_invalid'): ClientError {
  return new ClientError(code, {
    operation: 'check rows',
    problem: 'The rows are not those that the manifest promises.',
  });
}
