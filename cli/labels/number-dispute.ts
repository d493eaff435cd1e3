import type { Command } from 'commander';
import {
  decideDispute,
  DISPUTE_STATES,
  fileDispute,
  listDisputes,
  openDisputeContact,
  readDispute,
  type Dispute,
  type DisputeState,
} from '../../pipelines/labels/number-dispute.ts';
import { readRequestFile } from '../../pipelines/branding/requests/request-file.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { currentActor, run, runWith, withServices, type Outcome } from '../command.ts';
import { formatLabel } from './label-tables.ts';
import { parseCount, parseId } from '../options.ts';
import { formatFacts, formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

interface FileOptions {
  readonly reason?: string;
  readonly contact?: string;
  readonly key?: string;
}

interface DecideOptions {
  readonly clear?: boolean;
  readonly uphold?: boolean;
  readonly reason: string;
}

/** `number dispute [decide]` and `number disputes list|show`. */
export function addNumberDisputeCommands(number: Command): void {
  const dispute = number
    .command('dispute')
    .description('request that a person looks at the label of a number again, and decide such requests');
  dispute
    .command('file', { isDefault: true })
    .description('file a dispute: a number with a reason, or a request form as JSON')
    .argument('<request>', 'number in international form, or a file {"phone", "reason", "contact"}')
    .option('--reason <text>', 'why the label is wrong')
    .option('--contact <text>', 'how to reach who asks; kept sealed')
    .option('--key <key>', 'idempotency key; without one, the same request is the same dispute')
    .addHelpText(
      'after',
      "\nExamples:\n  caller-trust number dispute +12025550123 --reason 'Our clinic took the number over in May' --contact office@clinic.example\n  caller-trust number dispute request.json --key ticket-4711",
    )
    .action(run(file));
  dispute
    .command('decide')
    .description('decide a dispute that somebody else filed')
    .argument('<dispute>', 'id of the dispute', parseId)
    .option('--clear', 'publish the number as NEUTRAL')
    .option('--uphold', 'leave its label')
    .requiredOption('--reason <text>', 'why, kept with the decision')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust number dispute decide 12 --clear --reason 'The number changed hands'",
    )
    .action(run(decide));
  addReadingCommands(number);
}

function addReadingCommands(number: Command): void {
  const disputes = number.command('disputes').description('disputes of labels');
  disputes
    .command('list')
    .description('list disputes, oldest first')
    .option('--state <state>', `${DISPUTE_STATES.join(', ')} or all`, 'open')
    .option('--after <id>', 'only disputes after this one', parseCount, 0)
    .option('--limit <n>', 'at most this many', parseCount, 100)
    .action(run(list));
  disputes
    .command('show')
    .description('show a dispute with its decision')
    .argument('<dispute>', 'id of the dispute', parseId)
    .option('--contact', 'with the contact of who filed it')
    .action(runWith(show));
}

async function file(request: string, { reason, contact, key }: FileOptions): Promise<Outcome> {
  const isNumber = /^[+\d(]/.test(request) && !request.endsWith('.json');
  const given = Object.fromEntries(Object.entries({ reason, contact }).filter(([, value]) => value !== undefined));
  const fields = isNumber ? { phone: request, ...given } : { ...(await readRequestFile(request)), ...given };
  return withServices(async ({ db, config }) => {
    const filed = await fileDispute(
      { db, vault: await openVault(config) },
      { request: fields, filedBy: currentActor(), key },
    );
    return {
      json: filed,
      text: `${filed.repeated ? 'This is' : 'Filed as'} dispute ${filed.disputeId}: it is ${filed.state}.`,
    };
  });
}

async function decide(disputeId: number, { clear = false, uphold = false, reason }: DecideOptions): Promise<Outcome> {
  if (clear === uphold)
    throw new ServiceError('usage_invalid', {
      operation: 'decide dispute',
      problem: 'Give one of --clear and --uphold.',
    });
  return withServices(async ({ db, config }) => {
    const decided = await decideDispute({ db, disputeId, clear, reason, actor: currentActor(), eyes: config });
    return { json: decided, text: describe(decided) };
  });
}

async function list({ state, after, limit }: { state: string; after: number; limit: number }): Promise<Outcome> {
  const known = DISPUTE_STATES.find((each) => each === state);
  if (known === undefined && state !== 'all')
    throw new ServiceError('usage_invalid', {
      operation: 'list disputes',
      problem: 'There is no such state.',
      hint: `The states are ${DISPUTE_STATES.join(', ')}; all lists every one.`,
    });
  return withServices(async ({ db }) => {
    const disputes = await listDisputes(db, { state: known as DisputeState | undefined, after, limit });
    const text = formatTable(disputes, [
      { title: 'id', value: ({ disputeId }) => String(disputeId) },
      { title: 'number', value: ({ phone }) => phone },
      { title: 'label', value: ({ label }) => formatLabel(label) },
      { title: 'state', value: (dispute) => dispute.state },
      { title: 'filed', value: ({ filedAt }) => formatTime(filedAt) },
      { title: 'by', value: ({ filedBy }) => filedBy },
    ]);
    return { json: disputes, text: disputes.length === 0 ? 'There is no such dispute.' : text };
  });
}

async function show(
  { db, config }: Services,
  disputeId: number,
  { contact: withContact = false }: { contact?: boolean },
): Promise<Outcome> {
  const dispute = await readDispute(db, disputeId);
  if (!withContact) return { json: dispute, text: describe(dispute) };
  const contact = await openDisputeContact({ db, vault: await openVault(config) }, disputeId);
  return {
    json: { ...dispute, contact },
    text: `${describe(dispute)}\n${formatFacts([['contact', contact ?? 'none']])}`,
  };
}

function describe({ disputeId, phone, label, reason, filedBy, filedAt, state, decision }: Dispute): string {
  return formatFacts([
    ['dispute', disputeId],
    ['number', phone],
    ['label then', formatLabel(label)],
    ['filed', `${formatTime(filedAt)} by ${filedBy}`],
    ['reason', reason],
    ['state', state],
    ['decided', decision && `${formatTime(decision.at)} by ${decision.by}: ${decision.reason}`],
  ]);
}
