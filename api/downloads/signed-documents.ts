import { listSignatureExpiries, type SignatureExpiry } from '../../pipelines/caches/signing/signature-expiry.ts';
import { parseMetadata, type Role, type TargetFile } from '../../format/trust/metadata.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { JsonDocument } from '../http/json-document.ts';

interface DocumentName {
  readonly name: string;
  readonly sha256: string;
  readonly superseded: boolean;
}

/**
 * The signed metadata and manifests as the workers stored them, byte for byte: this process has no key. Documents of sets before
 * the present one are served for an hour, for clients that are reading them.
 */
export class SignedDocuments {
  #revision: number | undefined;
  /** By digest and name. */
  #documents: ReadonlyMap<string, DocumentName & JsonDocument> = new Map();
  #byName: ReadonlyMap<string, JsonDocument> = new Map();
  #targets: Readonly<Record<string, TargetFile>> = {};
  #expiries: readonly SignatureExpiry[] = [];

  /** When the present signatures expire; empty while the service does not sign. */
  get expiries(): readonly SignatureExpiry[] {
    return this.#expiries;
  }

  /** Reads what was signed since the last call. On any error nothing changes. One call at a time. */
  async refresh(db: Queryable): Promise<void> {
    const row = await queryRow<{ revision: number }>(db, sql('signing/read_revision'));
    if (row === undefined || row.revision === this.#revision) return;
    const names = await queryRows<DocumentName>(db, sql('signing/list_document_names'));
    const missing = names.filter((name) => !this.#documents.has(keyOf(name))).map(({ sha256 }) => sha256);
    const read = new Map(
      (
        await queryRows<Omit<DocumentName, 'superseded'> & { body: Buffer }>(db, sql('signing/read_documents'), [
          missing,
        ])
      ).map((document) => [keyOf(document), document.body]),
    );
    const documents = names.flatMap((name) => {
      const body = read.get(keyOf(name)) ?? this.#documents.get(keyOf(name))?.body;
      return body === undefined ? [] : [{ ...name, body, etag: `"${name.sha256}"` }]; // else superseded and deleted meanwhile
    });
    this.#expiries = await listSignatureExpiries(db);
    this.#documents = new Map(documents.map((document) => [keyOf(document), document]));
    const present = documents.filter(({ superseded }) => !superseded);
    this.#byName = new Map([...documents, ...present].map((document) => [document.name, document]));
    this.#targets = readTargets(present);
    this.#revision = row.revision;
  }

  /**
   * Metadata by its name; `root.json` is the newest root.
   * @throws ServiceError `not_ready` before the first refresh, `trust_document_unknown`
   */
  findMetadata(name: string): JsonDocument {
    const found = isMetadataName(name) ? this.#byName.get(name === 'root.json' ? this.#newestRoot() : name) : undefined;
    if (found === undefined) throw this.#unknown();
    return found;
  }

  /** A signed manifest by path and digest. @throws as {@link findMetadata} */
  findManifest(path: string, sha256: string): JsonDocument {
    const found = this.#documents.get(keyOf({ name: path, sha256 }));
    if (found === undefined) throw this.#unknown();
    return found;
  }

  /** The error for a file that is not the served one: `not_ready` if it is about to be, else `trust_document_unknown`. */
  unavailableFile(path: string, sha256: string): ServiceError {
    if (this.#targets[path]?.hashes.sha256 !== sha256) return this.#unknown();
    return new ServiceError('not_ready', {
      operation: 'read signed file',
      object: path,
      problem: 'The file that is signed cannot be read at the moment.',
    });
  }

  #newestRoot(): string {
    const versions = [...this.#byName.keys()].flatMap((name) => /^(\d+)\.root\.json$/.exec(name)?.[1] ?? []);
    return `${Math.max(0, ...versions.map(Number))}.root.json`;
  }

  #unknown(): ServiceError {
    return this.#revision === undefined
      ? new ServiceError('not_ready', {
          operation: 'read signed document',
          problem: 'The signed documents are not known yet.',
        })
      : new ServiceError('trust_document_unknown', { operation: 'read signed document' });
  }
}

function keyOf({ name, sha256 }: { name: string; sha256: string }): string {
  return `${sha256} ${name}`;
}

/** Names of metadata; manifests have paths. */
function isMetadataName(name: string): boolean {
  return /^((\d+\.)?root|timestamp|\d+\.(snapshot|targets))\.json$/.test(name);
}

function readTargets(present: readonly (DocumentName & JsonDocument)[]): Record<string, TargetFile> {
  const role: Role = 'targets';
  const document = present.find(({ name }) => name.endsWith(`.${role}.json`));
  return document === undefined ? {} : parseMetadata(role, document.body).signed.targets;
}
