import type { Command } from 'commander';
import { listAcceptedRequests } from '../../pipelines/submissions/request-ledger.ts';
import { runWith } from '../command.ts';
import { parseCount, parseId } from '../options.ts';
import { formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

interface ListOptions {
  readonly client?: string;
  readonly before?: number;
  readonly limit: number;
}

/** `intake list`. */
export function addIntakeCommands(intake: Command): void {
  intake
    .command('list')
    .description('list the requests that the intake has accepted, newest first')
    .option('--client <name>', 'only those of this client')
    .option('--before <request>', 'only those before this one', parseId)
    .option('--limit <n>', 'at most this many', parseCount, 20)
    .addHelpText('after', '\nExample:\n  caller-trust intake list --client acme-centre')
    .action(runWith(list));
}

async function list({ db }: Services, options: ListOptions) {
  const requests = await listAcceptedRequests(db, options);
  const text = formatTable(requests, [
    { title: 'request', value: ({ requestId }) => String(requestId) },
    { title: 'accepted', value: ({ acceptedAt }) => formatTime(acceptedAt) },
    { title: 'client', value: ({ client }) => client },
    { title: 'key', value: ({ keyId }) => keyId },
    { title: 'brand', value: ({ brand }) => brand ?? '' },
    { title: 'kind', value: ({ kind }) => kind },
    { title: 'became', value: ({ object }) => object },
    { title: 'from', value: ({ address }) => address ?? '' },
  ]);
  return { json: requests, text: requests.length === 0 ? 'No request was accepted yet.' : text };
}
