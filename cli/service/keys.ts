import type { Command } from 'commander';
import { createKey, listKeys, resetKeys, revokeKey, SCOPES } from '../../pipelines/access/keys.ts';
import { secretForNewKey } from '../../pipelines/access/key-secret.ts';
import { runWith } from '../command.ts';
import { parseInstant } from '../options.ts';
import { formatFacts, formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

/** `keys create|list|revoke|reset`. */
export function addKeyCommands(keys: Command): void {
  keys
    .command('create')
    .description('make a key; it is shown once')
    .argument('<client>', 'who gets it')
    .option('--scope <scope...>', SCOPES.join(', '), ['caches:read'])
    .option('--brand <handle>', 'the one brand of the client that the key sees; for scopes of numbers and branding')
    .option('--expires <time>', 'when it ends', parseInstant)
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust keys create acme-carrier --scope caches:read --expires 2027-12-31\n  caller-trust keys create acme-agency --scope numbers:read branding:read --brand acme\n  caller-trust keys create acme-centre --scope batches:write verifications:read',
    )
    .action(runWith(create));
  keys.command('list').description('list all keys').action(runWith(list));
  keys
    .command('revoke')
    .description('revoke a key; the API refuses it within seconds')
    .argument('<keyId>', 'id of the key')
    .action(runWith(revoke));
  keys
    .command('reset')
    .description('revoke every key, so that keys can be made with another key secret')
    .requiredOption('--revoke-all', 'every client needs a new key then')
    .action(runWith(reset));
}

interface CreateOptions {
  readonly scope: string[];
  readonly brand?: string;
  readonly expires?: Date;
}

async function create({ db, config }: Services, client: string, { scope, brand, expires }: CreateOptions) {
  const key = await createKey(db, {
    client,
    scopes: scope,
    brand: brand ?? null,
    expiresAt: expires ?? null,
    secret: await secretForNewKey(db, config),
  });
  const text = formatFacts([
    ['key', key.key],
    ['id', key.keyId],
    ['client', key.client],
    ['scopes', key.scopes.join(' ')],
    ['brand', key.brand],
    ['expires', formatTime(key.expiresAt) ?? 'never'],
  ]);
  return { json: key, text };
}

async function list({ db }: Services) {
  const keys = await listKeys(db);
  const text = formatTable(keys, [
    { title: 'id', value: ({ keyId }) => keyId },
    { title: 'client', value: ({ client }) => client },
    { title: 'state', value: ({ state }) => state },
    { title: 'scopes', value: ({ scopes }) => scopes.join(' ') },
    { title: 'brand', value: ({ brand }) => brand ?? '' },
    { title: 'created', value: ({ createdAt }) => formatTime(createdAt) },
    { title: 'expires', value: ({ expiresAt }) => formatTime(expiresAt) },
  ]);
  return { json: keys, text: keys.length === 0 ? 'There are no keys.' : text };
}

async function revoke({ db }: Services, keyId: string) {
  const revoked = await revokeKey(db, keyId);
  return {
    json: revoked,
    text: `Key ${revoked.keyId} of ${revoked.client} is revoked since ${formatTime(revoked.revokedAt)}.`,
  };
}

async function reset({ db }: Services) {
  const keys = await resetKeys(db);
  return {
    json: { keys },
    text: `${keys} live keys are revoked. The next \`keys create\` decides which key secret is used.`,
  };
}
