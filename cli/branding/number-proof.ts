import type { Command } from 'commander';
import { requestProofs } from '../../jobs/queues/proof-producer.ts';
import { readBrand } from '../../pipelines/branding/brand/brand-record.ts';
import {
  confirmCode,
  listNumberProofs,
  type NumberProofStatus,
  type ProofSkip,
  type StartedProofs,
} from '../../pipelines/branding/proof/number-proof.ts';
import { loadCodeSecret } from '../../pipelines/branding/proof/proof-code.ts';
import { requirePhone } from '../../pipelines/labels/number-record.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { currentActor, run, runWith, withServices, type Outcome } from '../command.ts';
import { formatParagraphs, formatCount, formatTable, formatTime } from '../table.ts';
import { parseCount } from '../options.ts';
import { readPages } from '../paging.ts';
import { withQueues, withWorker } from '../with-worker.ts';
import { untilEnded } from '../until-ended.ts';
import type { Services } from '../../runtime/services/services.ts';

const pollMs = 100;

/** `number prove start|confirm|status`. */
export function addNumberProofCommands(number: Command): void {
  const prove = number
    .command('prove')
    .description('prove that a brand answers its numbers, by codes that calls give out');
  prove
    .command('start')
    .description('call numbers: the named ones, or all that are not proven')
    .argument('<handle>', 'the brand')
    .argument('[phone...]', 'numbers in international form')
    .option('--language <tag>', 'language of the calls, such as en or de-AT', 'en')
    .option('--no-wait', 'return when the calls are queued')
    .addHelpText('after', '\nExample:\n  caller-trust number prove start acme +12125550123 --language en')
    .action(run(start));
  prove
    .command('confirm')
    .description('confirm a number with the code that the call announced')
    .argument('<handle>', 'the brand')
    .argument('<phone>', 'the number that was called')
    .argument('<code>', 'the digits')
    .addHelpText('after', '\nExample:\n  caller-trust number prove confirm acme +12125550123 12345678')
    .action(run(confirm));
  prove
    .command('status')
    .description('print the numbers of a brand with their proofs')
    .argument('<handle>', 'the brand')
    .option('--after <phone>', 'only numbers after this one', '')
    .option('--limit <n>', 'at most this many; all by default', parseCount)
    .addHelpText('after', '\nExample:\n  caller-trust number prove status acme')
    .action(runWith(status));
}

interface StartOptions {
  readonly language: string;
  readonly wait: boolean;
}

function start(handle: string, texts: readonly string[], { language, wait }: StartOptions): Promise<Outcome> {
  const phones = texts.length === 0 ? null : texts.map((text) => requirePhone('prove number', text));
  return withServices((services) =>
    withQueues(services, async (queues) => {
      const result = await requestProofs({ ...services, queues }, { handle, phones, language, actor: currentActor() });
      if (wait && result.started.length > 0)
        await withWorker(services, queues, () => untilCallsPlaced(services.db, handle, result));
      return { json: result, text: formatStarted(result) };
    }),
  );
}

/** Waits until each call is placed, or its proof has ended. */
async function untilCallsPlaced(db: Pool, handle: string, { started }: StartedProofs): Promise<void> {
  const { brandId } = await readBrand(db, handle);
  const phones = started.flatMap(({ called }) => called);
  await untilEnded({
    read: () => listNumberProofs(db, brandId, { phones }),
    hasEnded: (proofs) => proofs.every(({ pending }) => pending?.call?.placedAt !== null),
    pollMs,
  });
}

const skipWords: { readonly [Why in ProofSkip]: string } = {
  open: 'a proof is open',
  proven: 'proven already',
  not_held: 'not a number that the brand has now',
  calls_of_day: 'called too often in 24 hours',
  proofs_open: 'too many proofs of the brand are open',
};

function formatStarted({ started, skipped }: StartedProofs): string {
  const proofs = formatTable(started, [
    { title: 'proof', value: ({ proofId }) => proofId },
    { title: 'numbers', value: ({ numbers }) => numbers },
    { title: 'called', value: ({ called }) => called.join(' ') },
  ]);
  const counts = new Map<ProofSkip, number>();
  for (const { why } of skipped) counts.set(why, (counts.get(why) ?? 0) + 1);
  const left = [...counts].map(([why, count]) => `${formatCount(count)} not called: ${skipWords[why]}.`).join('\n');
  return formatParagraphs(started.length === 0 ? 'No number is called.' : proofs, left);
}

async function confirm(handle: string, text: string, code: string): Promise<Outcome> {
  const phone = requirePhone('confirm number', text);
  return withServices(async ({ db, config }) => {
    const result = await confirmCode({
      db,
      handle,
      phone,
      code,
      actor: currentActor(),
      secret: await loadCodeSecret(config),
      policy: config.letterApproval,
    });
    const words = result.proven
      ? `${formatCount(result.numbers)} ${result.numbers === 1 ? 'number is' : 'numbers are'} proven until ${formatTime(result.validUntil)}.${result.letters.map((letterId) => ` Letter ${letterId} is approved.`).join('')}`
      : 'The code is right; codes of other calls of the block are still missing.';
    return { json: { handle, phone, ...result }, text: words };
  });
}

async function status(
  { db }: Services,
  handle: string,
  { after, limit }: { after: string; limit?: number },
): Promise<Outcome> {
  const { brandId } = await readBrand(db, handle);
  const numbers = await readPages<NumberProofStatus>(
    (last, size) => listNumberProofs(db, brandId, { after: last?.phone ?? after, limit: size }),
    limit,
  );
  const table = formatTable(numbers, [
    { title: 'phone', value: ({ phone }) => phone },
    { title: 'state', value: ({ state }) => state },
    { title: 'proven until', value: ({ provenUntil }) => provenUntil && formatTime(provenUntil) },
    { title: 'proof', value: ({ pending }) => pending?.proofId },
    { title: 'call', value: ({ pending }) => pending && callWords(pending) },
  ]);
  return { json: numbers, text: numbers.length === 0 ? 'The brand has no such number.' : table };
}

function callWords({ call }: NonNullable<NumberProofStatus['pending']>): string {
  if (call === null) return 'others of its block are called';
  if (call.confirmed) return 'its code was given back';
  if (call.placedAt === null) return 'is yet to be placed';
  return `code good until ${formatTime(call.expiresAt!)}, tries left: ${call.triesLeft}`;
}
