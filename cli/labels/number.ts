import type { Command } from 'commander';
import { clearNumber, readNumber, type NumberRecord } from '../../pipelines/labels/number-record.ts';
import { LABEL_CAUSES } from '../../pipelines/labels/label-history.ts';
import { readNumberHistory } from '../../pipelines/labels/number-dispute.ts';
import { addBrandingNumberCommands } from '../branding/branding-number.ts';
import { currentActor, runWith, type Outcome } from '../command.ts';
import { addNumberDisputeCommands } from './number-dispute.ts';
import { addNumberProtectionCommands } from './number-protection.ts';
import { formatDispute, formatLabel, formatLabelEvents } from './label-tables.ts';
import { parseCount } from '../options.ts';
import { addNumberDriftCommand } from './number-drift.ts';
import { addNumberProofCommands } from '../branding/number-proof.ts';
import { formatFacts, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

/** `number show|history|clear|dispute|disputes|protect|drift`, and the subcommands of numbers for branding. */
export function addNumberCommands(number: Command): void {
  number
    .command('show')
    .description('show what is published of a number, and why')
    .argument('<phone>', 'number in international form')
    .addHelpText('after', '\nExample:\n  caller-trust number show +12025550123')
    .action(runWith(async ({ db }, phone: string) => describe(await readNumber(db, phone))));
  number
    .command('history')
    .description(
      'list the changes of the published label of a number with their causes, newest first, and its disputes with their decisions',
    )
    .argument('<phone>', 'number in international form')
    .option('--limit <n>', 'at most this many', parseCount, 100)
    .addHelpText('after', '\nExample:\n  caller-trust number history +12025550123')
    .action(runWith(showHistory));
  number
    .command('clear')
    .description('clear a number; it stays clear until new reports come')
    .argument('<phone>', 'number in international form')
    .requiredOption('--reason <text>', 'why, kept with the number')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust number clear +12025550123 --reason 'Recycled number, see ticket 4711'",
    )
    .action(runWith(clear));
  addNumberDisputeCommands(number);
  addNumberProtectionCommands(number);
  addNumberDriftCommand(number);
  addBrandingNumberCommands(number);
  addNumberProofCommands(number);
}

async function clear({ db, config }: Services, phone: string, { reason }: { reason: string }): Promise<Outcome> {
  await clearNumber({ db, phone, reason, actor: currentActor(), eyes: config });
  return describe(await readNumber(db, phone));
}

async function showHistory({ db }: Services, phone: string, { limit }: { limit: number }): Promise<Outcome> {
  const history = await readNumberHistory(db, phone, { limit });
  const changes =
    history.changes.length === 0
      ? 'The published label of this number has not changed.'
      : formatLabelEvents(history.changes);
  return { json: history, text: [changes, ...history.disputes.map(formatDispute)].join('\n') };
}

function describe(record: NumberRecord): Outcome {
  const {
    reputation,
    display,
    feed,
    score,
    branded,
    changes: [last],
  } = record;
  const lines = [
    formatFacts([
      ['phone', record.phone],
      ['country', record.country ?? 'none'],
      ['level', reputation?.level ?? 'not published'],
      ['category', reputation?.category ? `${reputation.category.id} ${reputation.category.name}` : null],
      ['decided by', reputation?.source],
      ['since', formatTime(record.since)],
      ['last change', last && `${formatLabel(last.from)} to ${formatLabel(last.to)}, ${LABEL_CAUSES[last.cause]}`],
      ['display name', display?.name],
      ['description', display?.description],
      ['detail', display?.detail],
      ['image', display?.image],
      [
        'brand',
        branded &&
          `${branded.brandHandle}: ${branded.display.name} (from ${formatTime(branded.liveFrom)}${branded.liveUntil ? ` until ${formatTime(branded.liveUntil)}` : ''})`,
      ],
      [
        'feed says',
        feed &&
          `${feed.level}${feed.category === null ? '' : ` ${feed.category}`} (load ${feed.loadId}, ${feed.fileName ?? 'unknown file'}, ${formatTime(feed.requestedAt)})`,
      ],
      ['complaints', record.complaints],
      ['never labelled', record.protection],
    ]),
  ];
  if (score !== null) {
    lines.push(
      'why, by the last scoring:',
      formatFacts([
        ['  rule', score.ruleVersion],
        ['  scored at', formatTime(score.scoredAt)],
        ['  result', score.category === null ? score.level : `${score.level} ${score.category}`],
        ['  points', score.score],
        ['  reports', score.reports],
        ['  independent', score.independentReports],
        ['  days', score.days],
        ['  states', score.states],
        ['  first report', formatTime(score.firstReportedAt)],
        ['  last report', formatTime(score.lastReportedAt)],
      ]),
    );
  }
  for (const { clearedAt, clearedBy, reason, before } of record.redress) {
    lines.push(`cleared ${formatTime(clearedAt)} by ${clearedBy}, was ${before.level ?? 'not published'}: ${reason}`);
  }
  return { json: record, text: lines.join('\n') };
}
