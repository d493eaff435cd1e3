import type { Command } from 'commander';
import {
  listProtections,
  protectNumbers,
  unprotectNumbers,
  type Protection,
} from '../../pipelines/labels/protected-number.ts';
import { currentActor, runWith, type Outcome } from '../command.ts';
import { formatCount, formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

/** `number protect add|list|remove`. */
export function addNumberProtectionCommands(number: Command): void {
  const protect = number
    .command('protect')
    .description('numbers that are never labelled, regardless of feeds and complaints');
  protect
    .command('add')
    .description(
      'protect a number or a prefix; published labels are taken back, and leave the files with the next night',
    )
    .argument('<phone|prefix>', 'number in international form, or a prefix with an asterisk: +4930*')
    .requiredOption('--reason <text>', 'why, kept with the entry')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust number protect add +12025550123 --reason 'Switchboard of the county hospital'",
    )
    .action(runWith(add));
  protect
    .command('list')
    .description('list what is protected, and why')
    .option('--all', 'also what was removed')
    .action(
      runWith(async ({ db }, { all = false }: { all?: boolean }) => listOutcome(await listProtections(db, { all }))),
    );
  protect
    .command('remove')
    .description("end a protection; the feed's word is published again")
    .argument('<phone|prefix>', 'as it was added')
    .requiredOption('--reason <text>', 'why, kept with the entry')
    .addHelpText('after', "\nExample:\n  caller-trust number protect remove '+4930*' --reason 'Ticket 4711'")
    .action(runWith(remove));
}

async function add({ db, config }: Services, numbers: string, { reason }: { reason: string }): Promise<Outcome> {
  const { withheld } = await protectNumbers({ db, numbers, reason, actor: currentActor(), eyes: config });
  return {
    json: { numbers, protected: true, withheld },
    text: `${numbers} is protected; ${formatCount(withheld)} published labels were taken back.`,
  };
}

async function remove({ db }: Services, numbers: string, { reason }: { reason: string }): Promise<Outcome> {
  const { restored } = await unprotectNumbers({ db, numbers, reason, actor: currentActor() });
  return {
    json: { numbers, protected: false, restored },
    text: `${numbers} is not protected any more; ${formatCount(restored)} labels of feeds were restored.`,
  };
}

function listOutcome(protections: readonly Protection[]): Outcome {
  const text = formatTable(protections, [
    { title: 'numbers', value: ({ kind, value }) => (kind === 'prefix' ? `${value}*` : value) },
    { title: 'by', value: ({ addedBy }) => addedBy },
    { title: 'since', value: ({ addedAt }) => formatTime(addedAt) },
    {
      title: 'removed',
      value: ({ removed }) =>
        removed === null ? null : `${formatTime(removed.at)} by ${removed.by}: ${removed.reason}`,
    },
    { title: 'reason', value: ({ reason }) => reason },
  ]);
  return { json: protections, text };
}
