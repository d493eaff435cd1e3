import { queryRows, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { moveLetter } from './letter-record.ts';
import { expiringDays } from './letter-validity.ts';
import { inBrandTransaction, lockBrand } from './locked-brand.ts';
import { settleBrand } from './settle.ts';
import type { LetterState } from '../states.ts';
import { destroyDocument } from '../document-store.ts';

const dayMs = 86_400_000;
const actor = 'expiry';

/** The night waits for this, so a stuck transaction must not block it. */
const lockSecondsMax = 30;

interface DueLetter {
  letterId: number;
  brandId: number;
  state: LetterState;
  ended: boolean;
  handle: string;
}

/** The changes by an evaluation at one instant. */
interface Expired {
  /** Letters that ended, and those that have come near their end. */
  readonly expired: number;
  readonly expiring: number;
}

/**
 * Ends the letters whose validity is over at an instant, with the numbers and brands that depend on them, and marks those that end
 * within 30 days. One transaction a brand; safe to run twice. Nights do not depend on it: the rows that they publish carry their
 * end.
 */
export async function expireLetters(db: Pool, at: Date): Promise<Expired> {
  const due = await queryRows<DueLetter>(db, sql('branding/list_due_letters'), [at, nearEnd(at), null]);
  for (const handle of new Set(due.map((letter) => letter.handle))) await expireOfBrand(db, handle, at);
  const expired = due.filter(({ ended }) => ended).length;
  return { expired, expiring: due.length - expired };
}

function nearEnd(at: Date): Date {
  return new Date(at.getTime() + expiringDays * dayMs);
}

async function expireOfBrand(db: Pool, handle: string, at: Date): Promise<void> {
  await inBrandTransaction(db, async (client) => {
    await client.query(`SET LOCAL lock_timeout = '${lockSecondsMax}s'`);
    const brand = await lockBrand(client, handle, null);
    for (const letter of await queryRows<DueLetter>(client, sql('branding/list_due_letters'), [
      at,
      nearEnd(at),
      brand.brandId,
    ])) {
      const reason = letter.ended ? 'Its validity is over.' : `Its validity ends within ${expiringDays} days.`;
      await moveLetter(
        client,
        { letterId: letter.letterId, state: letter.state },
        { action: letter.ended ? 'expire' : 'warn', at, cause: { actor, reason, operationId: null } },
      );
    }
    await settleBrand(client, brand.brandId, {
      at,
      cause: { actor, reason: 'A letter has ended.', operationId: null },
    });
  });
}

/** Destroys the documents whose time of retention is over at an instant; returns how many. */
export async function destroyOldDocuments(
  db: Pool,
  { retentionDays, at }: { retentionDays: number; at: Date },
): Promise<number> {
  const before = new Date(at.getTime() - retentionDays * dayMs);
  const old = await queryRows<{ documentId: number }>(db, sql('branding/list_expired_documents'), [before]);
  let destroyed = 0;
  for (const { documentId } of old)
    if (await destroyDocument(db, documentId, `Retention of ${retentionDays} days is over.`)) destroyed += 1;
  return destroyed;
}
