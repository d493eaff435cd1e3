import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  addProtectedName,
  listOwnProtectedNames,
  readProtectedNames,
  removeProtectedName,
  type OwnProtectedName,
} from '../../pipelines/branding/names/protected-name-record.ts';
import {
  NEARNESS,
  nearProtectedName,
  PROTECTED_CATEGORIES,
  type ProtectedCategory,
} from '../../pipelines/branding/names/protected-names.ts';
import { currentActor, runWith, type Outcome } from '../command.ts';
import { formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

interface AddOptions {
  readonly reason: string;
  readonly category: ProtectedCategory;
  readonly country?: string;
  readonly common?: boolean;
}

/** `brand protect add|list|check|remove`. */
export function addNameProtectionCommands(brand: Command): void {
  const protect = brand
    .command('protect')
    .description('protected names: brands with a similar name need the decision of a person');
  protect
    .command('add')
    .description('protect a name: from now on brands with a similar name go to a person')
    .argument('<name>', 'the name')
    .requiredOption('--reason <text>', 'why, kept with the entry')
    .addOption(new Option('--category <category>', 'what it names').choices(PROTECTED_CATEGORIES).default('brand'))
    .option('--country <code>', 'country of ISO 3166-1, two letters; without it several', parseCountry)
    .option(
      '--common',
      'the name is an ordinary word or a family name, too: in a longer name it counts only next to generic words',
    )
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust brand protect add 'Skellbrook Bank' --category bank --country US --reason 'Ticket 4711'",
    )
    .action(runWith(add));
  protect
    .command('list')
    .description('list the names that operators have protected, and why')
    .option('--all', 'also what was removed')
    .action(
      runWith(async ({ db }, { all = false }: { all?: boolean }) =>
        listOutcome(await listOwnProtectedNames(db, { all })),
      ),
    );
  protect
    .command('check')
    .description('find the protected name that is similar to a name, in the built-in list too')
    .argument('<name>', 'the name')
    .action(runWith(check));
  protect
    .command('remove')
    .description('end the protection of a name that was added')
    .argument('<name>', 'as it was added')
    .requiredOption('--reason <text>', 'why, kept with the entry')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust brand protect remove 'Skellbrook Bank' --reason 'The bank has closed'",
    )
    .action(runWith(remove));
}

function parseCountry(text: string): string {
  if (!/^[A-Z]{2}$/.test(text)) throw new InvalidArgumentError('Give two upper-case letters of ISO 3166-1.');
  return text;
}

async function add(
  { db }: Services,
  name: string,
  { reason, category, country, common = false }: AddOptions,
): Promise<Outcome> {
  await addProtectedName({ db, name, reason, category, country: country ?? null, common, actor: currentActor() });
  return { json: { name, protected: true }, text: `${name} is protected.` };
}

async function remove({ db }: Services, name: string, { reason }: { reason: string }): Promise<Outcome> {
  await removeProtectedName({ db, name, reason, actor: currentActor() });
  return { json: { name, protected: false }, text: `${name} is not protected by an entry of operators any more.` };
}

async function check({ db }: Services, name: string): Promise<Outcome> {
  const near = nearProtectedName(name, await readProtectedNames(db));
  return {
    json: { name, near },
    text:
      near === null
        ? `${name} is near no protected name.`
        : `${name} is near ${near.name} (${near.category}): ${NEARNESS[near.how]}.`,
  };
}

function listOutcome(names: readonly OwnProtectedName[]): Outcome {
  const table = () =>
    formatTable(names, [
      { title: 'name', value: ({ name }) => name },
      { title: 'category', value: ({ category }) => category },
      { title: 'country', value: ({ country }) => country },
      { title: 'by', value: ({ addedBy }) => addedBy },
      { title: 'since', value: ({ addedAt }) => formatTime(addedAt) },
      {
        title: 'removed',
        value: ({ removed }) =>
          removed === null ? null : `${formatTime(removed.at)} by ${removed.by}: ${removed.reason}`,
      },
      { title: 'reason', value: ({ reason }) => reason },
    ]);
  return { json: names, text: names.length === 0 ? 'Operators have protected no name.' : table() };
}
