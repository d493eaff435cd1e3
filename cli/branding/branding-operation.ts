import type { Command } from 'commander';
import { readOperation } from '../../pipelines/branding/operation.ts';
import { formatRows } from './brand-tables.ts';
import { listRows, operationOutcome } from './branding-request.ts';
import { runWith, type Outcome } from '../command.ts';
import { parseCount, parseId } from '../options.ts';
import type { Services } from '../../runtime/services/services.ts';

interface RowOptions {
  readonly refused?: boolean;
  readonly after: number;
  readonly limit?: number;
}

/** `operation show|rows`. */
export function addBrandingOperationCommands(operation: Command): void {
  operation
    .command('show')
    .description('show the outcome of an operation')
    .argument('<operation>', 'id of the operation', parseId)
    .addHelpText('after', '\nExample:\n  caller-trust operation show 12')
    .action(runWith(async ({ db }, operationId: number) => operationOutcome(db, await readOperation(db, operationId))));
  operation
    .command('rows')
    .description('print the numbers of an operation by line, with their outcomes')
    .argument('<operation>', 'id of the operation', parseId)
    .option('--refused', 'only rows that were refused')
    .option('--after <line>', 'only rows after this line', parseCount, 0)
    .option('--limit <n>', 'at most this many; all by default', parseCount)
    .addHelpText('after', '\nExample:\n  caller-trust operation rows 12 --refused')
    .action(runWith(rowsOutcome));
}

async function rowsOutcome(
  { db }: Services,
  operationId: number,
  { refused = false, after, limit }: RowOptions,
): Promise<Outcome> {
  await readOperation(db, operationId); // an unknown operation is an error, not an empty list
  const rows = await listRows(db, operationId, { refused, after, limit });
  return {
    json: rows,
    text: rows.length === 0 ? `The operation has no ${refused ? 'refused ' : ''}row.` : formatRows(rows),
  };
}
