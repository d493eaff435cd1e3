import type { Command } from 'commander';
import {
  compareScores,
  moveScoringRule,
  readScoringRule,
  type LabelChange,
  type LabelDrift,
} from '../../pipelines/labels/scoring.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { currentActor, run, withServices, type Outcome } from '../command.ts';
import { formatLabel } from './label-tables.ts';
import { formatFacts, formatTable, formatTime, type TableColumn } from '../table.ts';

interface DriftOptions {
  readonly move?: boolean;
  readonly reason?: string;
  readonly by: string;
}

/** `number drift`: compares this version's rule with the last scoring, and puts it into force. */
export function addNumberDriftCommand(number: Command): void {
  number
    .command('drift')
    .description(
      'compare the rule on complaints of this version with the last scoring, without a change; or put it in force',
    )
    .option('--move', 'put the rule in force: the next night labels by it')
    .option('--reason <text>', 'why, kept with the rule; needed with --move')
    .option('--by <name>', 'who decided', currentActor())
    .addHelpText(
      'after',
      "\nExamples:\n  caller-trust number drift\n  caller-trust number drift --move --reason 'Compared on 22 November, see ticket 4711'",
    )
    .action(run((options: DriftOptions) => (options.move === true ? move(options) : showDrift())));
}

async function showDrift(): Promise<Outcome> {
  return withServices(async ({ db }) => {
    const drift = await compareScores(db, new Date());
    return { json: drift, text: formatDrift(drift) };
  });
}

async function move({ reason, by }: DriftOptions): Promise<Outcome> {
  if (reason === undefined)
    throw new ServiceError('usage_invalid', { operation: 'number drift', problem: '--move needs --reason.' });
  return withServices(async ({ db }) => {
    const before = await readScoringRule(db);
    const now = await moveScoringRule(db, { actor: by, reason });
    return {
      json: now,
      text:
        before.version === now.version
          ? `${now.version} is in force already.`
          : `${now.version} is in force instead of ${before.version}; the next night labels by it.`,
    };
  });
}

const columns: readonly TableColumn<LabelChange>[] = [
  { title: 'before', value: ({ from }) => formatLabel(from) },
  { title: 'after', value: ({ to }) => formatLabel(to) },
  { title: 'numbers', value: ({ numbers }) => numbers },
  { title: 'published', value: ({ published }) => published },
];

/** The drift report as text. */
function formatDrift({
  inForce,
  before,
  after,
  evaluatedAt,
  labelledBefore,
  labelledAfter,
  labelledByBoth,
  changed,
  changes,
}: LabelDrift): string {
  return [
    formatFacts([
      ['in force', `${inForce.version}, since ${formatTime(inForce.movedAt)} by ${inForce.movedBy}: ${inForce.reason}`],
      ['before', `${before ?? 'never scored'}: ${labelledBefore.toLocaleString('en-US')} numbers with a level`],
      [
        'after',
        `${after}: ${labelledAfter.toLocaleString('en-US')} numbers with a level, ${labelledByBoth.toLocaleString('en-US')} of them had one before`,
      ],
      ['evaluated at', formatTime(evaluatedAt)],
      ['changed', changed],
    ]),
    '',
    changes.length === 0 ? 'No number has a level by either.' : formatTable(changes, columns),
  ].join('\n');
}
