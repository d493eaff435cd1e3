import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  DELIVERY_STATES,
  listDeliveries,
  replayDelivery,
  replaySince,
  sendTest,
  type Delivery,
  type DeliveryState,
} from '../../pipelines/webhooks/delivery.ts';
import {
  addEndpoint,
  disableEndpoint,
  enableEndpoint,
  listEndpoints,
  readEndpoint,
  removeEndpoint,
  rotateSecret,
  type Endpoint,
} from '../../pipelines/webhooks/endpoint.ts';
import { DELIVERY_FAILURES } from '../../pipelines/webhooks/send-message.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import { currentActor, interruption, runWith, type Outcome } from '../command.ts';
import { parseCount, parseId, parseInstant } from '../options.ts';
import { formatCount, formatFacts, formatParagraphs, formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

const hourSeconds = 3600;
/** Hours for which the previous secret still signs after a rotation: a day, in which a receiver takes the new one. */
const overlap = { hoursByDefault: 24, hoursMax: 720 } as const;

/** `webhooks add|list|show|rotate|disable|enable|remove|deliveries|replay|test`. */
export function addWebhookCommands(webhooks: Command): void {
  webhooks
    .command('add')
    .description('add an endpoint; its secret is shown once')
    .argument('<name>', 'lower-case letters, digits, hyphens')
    .argument('<url>', 'where to send, of https')
    .option('--event <type...>', 'only these types of events, or groups such as letter.*', [])
    .option('--brand <handle>', 'only events of this brand')
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust webhooks add ops https://hooks.example.com/caller-trust --event night.failed night.held letter.*',
    )
    .action(runWith(add));
  webhooks.command('list').description('list the endpoints').action(runWith(list));
  webhooks.command('show').description('show an endpoint').argument('<name>', 'its name').action(runWith(show));
  webhooks
    .command('rotate')
    .description('make a new secret; the present one stays live for a while')
    .argument('<name>', 'name of the endpoint')
    .option(
      '--overlap-hours <hours>',
      `hours for which both secrets sign; 0: the new one alone. Default: ${overlap.hoursByDefault}`,
      parseOverlap,
    )
    .action(runWith(rotate));
  webhooks
    .command('disable')
    .description('send nothing to an endpoint; what is pending fails, and can be replayed')
    .argument('<name>', 'its name')
    .requiredOption('--reason <text>', 'why, kept with the endpoint')
    .action(runWith(disable));
  webhooks
    .command('enable')
    .description('send to an endpoint again')
    .argument('<name>', 'its name')
    .action(runWith(enable));
  webhooks
    .command('remove')
    .description('remove an endpoint with its secrets and deliveries')
    .argument('<name>', 'its name')
    .action(runWith(remove));
  webhooks
    .command('deliveries')
    .description('list deliveries, newest first')
    .argument('[name]', 'of one endpoint')
    .addOption(new Option('--state <state>', 'only these').choices(DELIVERY_STATES))
    .option('--before <delivery>', 'only those before this one', parseId)
    .option('--limit <count>', 'how many', parseCount, 50)
    .action(runWith(deliveries));
  webhooks
    .command('replay')
    .description('send again, under the same ids')
    .argument('<name>', 'name of the endpoint')
    .option('--delivery <id>', 'one delivery', parseId)
    .option('--since <time>', 'everything that has happened since then and the endpoint takes', parseInstant)
    .option('--undelivered', 'with --since: leave out what was delivered')
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust webhooks replay ops --since 2026-11-23T18:00:00Z --undelivered\n  caller-trust webhooks replay ops --delivery 4711',
    )
    .action(runWith(replay));
  webhooks
    .command('test')
    .description('send a webhook.test event from here, once, and show the answer')
    .argument('<name>', 'name of the endpoint')
    .action(runWith(test));
}

function parseOverlap(text: string): number {
  const hours = parseCount(text);
  if (hours > overlap.hoursMax) throw new InvalidArgumentError(`Give at most ${overlap.hoursMax} hours.`);
  return hours;
}

async function add(
  { db, config }: Services,
  name: string,
  url: string,
  { event, brand }: { event: string[]; brand?: string },
) {
  const { endpoint, secret } = await addEndpoint(
    { db, vault: await openVault(config) },
    { name, url, brand: brand ?? null, eventTypes: event, actor: currentActor(), limits: config },
  );
  return {
    json: { ...endpoint, secret },
    text: formatParagraphs(
      factsOf(endpoint),
      `secret  ${secret}`,
      'The secret is shown once. `caller-trust webhooks test` sends a first event.',
    ),
  };
}

async function list({ db }: Services) {
  const endpoints = await listEndpoints(db);
  const text = formatTable(endpoints, [
    { title: 'name', value: ({ name }) => name },
    { title: 'state', value: standingOf },
    { title: 'brand', value: ({ brand }) => brand },
    { title: 'events', value: ({ eventTypes }) => eventsOf(eventTypes) },
    { title: 'pending', value: ({ pending }) => pending },
    { title: 'failed', value: ({ failed }) => failed },
    { title: 'last success', value: ({ lastSuccessAt }) => formatTime(lastSuccessAt) },
    { title: 'address', value: ({ url }) => url },
  ]);
  return { json: endpoints, text: endpoints.length === 0 ? 'There are no endpoints.' : text };
}

async function show({ db }: Services, name: string) {
  const endpoint = await readEndpoint(db, name);
  return { json: endpoint, text: factsOf(endpoint) };
}

async function rotate(
  { db, config }: Services,
  name: string,
  { overlapHours: hours = overlap.hoursByDefault }: { overlapHours?: number },
) {
  const secret = await rotateSecret(
    { db, vault: await openVault(config) },
    { name, overlapSeconds: hours * hourSeconds },
  );
  const before =
    hours === 0
      ? 'The previous secret no longer signs.'
      : `The previous secret also signs for ${formatCount(hours)} hours.`;
  return { json: { name, secret, overlapHours: hours }, text: formatParagraphs(`secret  ${secret}`, before) };
}

async function disable({ db }: Services, name: string, { reason }: { reason: string }) {
  await inTransaction(db, (client) => disableEndpoint(client, { name, actor: currentActor(), reason }));
  return { json: await readEndpoint(db, name), text: `${name} is disabled.` };
}

async function enable({ db }: Services, name: string) {
  await inTransaction(db, (client) => enableEndpoint(client, name));
  return {
    json: await readEndpoint(db, name),
    text: `${name} is enabled. \`caller-trust webhooks replay ${name} --since TIME --undelivered\` sends what it missed.`,
  };
}

async function remove({ db }: Services, name: string) {
  await removeEndpoint(db, name);
  return { json: { name, removed: true }, text: `${name} is removed.` };
}

interface ListOptions {
  readonly state?: DeliveryState;
  readonly before?: number;
  readonly limit: number;
}

async function deliveries({ db }: Services, name: string | undefined, { state, before, limit }: ListOptions) {
  if (name !== undefined) await readEndpoint(db, name); // an unknown one is an error, not an empty list
  const found = await listDeliveries(db, { endpoint: name, state, before, limit });
  const text = formatTable<Delivery>(found, [
    { title: 'id', value: ({ deliveryId }) => String(deliveryId) },
    { title: 'endpoint', value: ({ endpoint }) => endpoint },
    { title: 'event', value: ({ type }) => type },
    { title: 'state', value: ({ state: each }) => each },
    { title: 'attempts', value: ({ attempts }) => attempts },
    { title: 'answer', value: ({ answerStatus }) => (answerStatus === null ? null : String(answerStatus)) },
    { title: 'failure', value: ({ failure }) => failure },
    { title: 'last attempt', value: ({ lastAttemptAt }) => formatTime(lastAttemptAt) },
    { title: 'next attempt', value: ({ nextAttemptAt }) => formatTime(nextAttemptAt) },
    { title: 'webhook-id', value: ({ messageId }) => messageId },
  ]);
  return { json: found, text: found.length === 0 ? 'There are no such deliveries.' : text };
}

interface ReplayOptions {
  readonly delivery?: number;
  readonly since?: Date;
  readonly undelivered?: boolean;
}

async function replay(
  { db }: Services,
  name: string,
  { delivery, since, undelivered = false }: ReplayOptions,
): Promise<Outcome> {
  if ((delivery === undefined) === (since === undefined))
    throw new ServiceError('usage_invalid', {
      operation: 'replay deliveries',
      problem: 'Give one of --delivery and --since.',
    });
  if (delivery !== undefined) {
    await replayDelivery(db, { endpoint: name, deliveryId: delivery });
    return { json: { name, deliveries: 1 }, text: `Delivery ${delivery} is due again.` };
  }
  const count = await inTransaction(
    db,
    (client) => replaySince(client, { endpoint: name, since: since!, undelivered }), // one of the two was given
  );
  return { json: { name, deliveries: count }, text: `Deliveries that are due now: ${formatCount(count)}.` };
}

async function test({ db, config }: Services, name: string): Promise<Outcome> {
  const services = { db, vault: await openVault(config), limits: config, signal: interruption.signal };
  const { status, failure } = await sendTest(services, name);
  const text =
    failure === null
      ? `${name} answered ${status}.`
      : `${DELIVERY_FAILURES[failure]}${status === null ? '' : ` Status: ${status}.`}`;
  return { json: { name, status, failure }, text, failed: failure !== null };
}

function standingOf({ state, failingSince }: Endpoint): string {
  return state === 'enabled' && failingSince !== null ? 'failing' : state;
}

function eventsOf(types: readonly string[]): string {
  return types.length === 0 ? 'all' : types.join(' ');
}

function factsOf(endpoint: Endpoint): string {
  return formatFacts([
    ['name', endpoint.name],
    ['address', endpoint.url],
    ['brand', endpoint.brand],
    ['events', eventsOf(endpoint.eventTypes)],
    ['state', endpoint.state],
    ['disabled', formatTime(endpoint.disabledAt)],
    ['by', endpoint.disabledBy],
    ['because', endpoint.disabledReason],
    ['failing since', formatTime(endpoint.failingSince)],
    ['last attempt', formatTime(endpoint.lastAttemptAt)],
    ['last success', formatTime(endpoint.lastSuccessAt)],
    ['pending', endpoint.pending],
    ['failed', endpoint.failed],
    ['added', `${formatTime(endpoint.createdAt)} by ${endpoint.createdBy}`],
    ...endpoint.secrets.map(
      ({ createdAt, endsAt }) =>
        ['secret', `of ${formatTime(createdAt)}${endsAt === null ? '' : `, until ${formatTime(endsAt)}`}`] as const,
    ),
  ]);
}
