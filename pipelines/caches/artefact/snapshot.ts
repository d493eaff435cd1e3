import type { Client } from 'pg';
import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, sqlStateOf } from '../../../runtime/postgres.ts';

/** A database snapshot that other connections can enter while the transaction of its holder is open. */
export interface Snapshot {
  /** For {@link enterSnapshot}. */
  readonly id: string;
  /** Its time, by the clock of the database. */
  readonly asOf: Date;
}

/** Begins a transaction on a client and exports its snapshot, which lives until the transaction or the client ends. */
export async function exportSnapshot(client: Client): Promise<Snapshot> {
  await client.query('SET idle_in_transaction_session_timeout = 0');
  await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const row = await queryRow<{ id: string; asOf: Date }>(
    client,
    'SELECT pg_export_snapshot() AS id, statement_timestamp() AS as_of',
  );
  return { id: row!.id, asOf: row!.asOf };
}

const undefinedObject = '42704';
const invalidParameterValue = '22023';

/**
 * Begins a read-only transaction that sees exactly what the snapshot sees.
 * @throws ServiceError `snapshot_gone` if its holder has ended.
 */
export async function enterSnapshot(client: Client, id: string): Promise<void> {
  await client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    await client.query(`SET TRANSACTION SNAPSHOT '${id.replaceAll("'", '')}'`);
  } catch (error) {
    const state = sqlStateOf(error);
    if (state !== undefinedObject && state !== invalidParameterValue) throw error;
    throw new ServiceError('snapshot_gone', {
      operation: 'enter snapshot',
      hint: 'The night is opened again with a new one.',
      cause: error,
    });
  }
}
