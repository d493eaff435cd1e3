import type { Pool } from '../../../runtime/postgres.ts';
import type { Action } from '../../../console/access/audit.ts';

/** Does something while the audit trail takes no row of an action. */
export async function withoutRecordOf(db: Pool, action: Action, work: () => Promise<unknown>): Promise<void> {
  await db.query(`ALTER TABLE console_event ADD CONSTRAINT broken_trail CHECK (action <> '${action}') NOT VALID`);
  try {
    await work();
  } finally {
    await db.query('ALTER TABLE console_event DROP CONSTRAINT broken_trail');
  }
}
