import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { requireKeySecret } from './key-secret.ts';
import { hashKey, parseKey, sameHash } from './key-text.ts';

/** The key of a request: its id, its client and its scopes. */
export interface Principal {
  readonly keyId: string;
  readonly client: string;
  readonly scopes: readonly string[];
  /** Handle of the one brand of its client that the key sees; null for a key that is bound to none. */
  readonly brand: string | null;
}

interface UsableKey extends Principal {
  readonly hash: Buffer;
  readonly expiresAt: Date | null;
}

const noHash = Buffer.alloc(32);

/** Keys that were proven since the last refresh and are not hashed again. */
const provenKeysMax = 10_000;

/** The usable keys, in memory. A revoked key stops working at the next refresh, an expired one at once. */
export class KeyTable {
  readonly #findSecret: () => Promise<string | undefined>;
  #secret: string | undefined;
  readonly #now: () => number;
  #keys: ReadonlyMap<string, UsableKey> | undefined;
  #problem = 'The keys are not known yet.';
  /** By the text of the key. Hashing is an eighth of the work on an answer of 304 (measured at commit 96725380). */
  #proven = new Map<string, UsableKey>();

  /** `secret` gives the secret of the hashes; undefined as long as there is none. */
  constructor({ secret, now = Date.now }: { secret: () => Promise<string | undefined>; now?: () => number }) {
    this.#findSecret = secret;
    this.#now = now;
  }

  get known(): boolean {
    return this.#keys !== undefined;
  }

  /**
   * Replaces the table by the usable keys of the database.
   * @throws ServiceError `key_secret_differs`; then no key is known
   */
  async refresh(db: Queryable): Promise<void> {
    this.#secret ??= await this.#findSecret();
    try {
      await requireKeySecret(db, this.#secret);
    } catch (error) {
      if (!isServiceError(error, 'key_secret_differs')) throw error;
      this.#keys = undefined;
      this.#problem = error.message;
      this.#secret = undefined; // it may be corrected
      throw error;
    }
    const keys = await queryRows<UsableKey>(db, sql('access/list_usable_keys'));
    this.#proven = new Map();
    this.#keys = new Map(keys.map((key) => [key.keyId, key]));
  }

  /**
   * The principal of a key; undefined if the key is not usable. An unknown id takes as long as a wrong key.
   * @throws ServiceError `not_ready` before the first refresh.
   */
  identify(text: string): Principal | undefined {
    if (this.#keys === undefined)
      throw new ServiceError('not_ready', { operation: 'identify key', problem: this.#problem });
    const key = this.#proven.get(text) ?? this.#prove(text, this.#keys);
    return key === undefined || (key.expiresAt !== null && key.expiresAt.getTime() <= this.#now()) ? undefined : key;
  }

  #prove(text: string, keys: ReadonlyMap<string, UsableKey>): UsableKey | undefined {
    const parts = parseKey(text);
    if (parts === undefined) return undefined;
    const key = keys.get(parts.keyId);
    if (this.#secret === undefined) return undefined; // no key was made yet
    const matches = sameHash(hashKey(parts.random, this.#secret), key?.hash ?? noHash);
    if (!matches || key === undefined) return undefined;
    if (this.#proven.size < provenKeysMax) this.#proven.set(text, key);
    return key;
  }
}
