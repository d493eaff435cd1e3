import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Option, type Command } from 'commander';
import { recordEvent, type Action } from '../../console/access/audit.ts';
import { passwordCharactersMin } from '../../console/access/password.ts';
import { ROLES } from '../../console/access/roles.ts';
import {
  addUser,
  changePassword,
  changeRole,
  listUsers,
  removeUser,
  type ConsoleUser,
} from '../../console/access/users.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { currentActor, run, runWith, withServices, type Outcome } from '../command.ts';
import { formatFacts, formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

interface PasswordOptions {
  readonly passwordFile?: string;
  readonly generate?: boolean;
}

/** `console users add|list|role|password|remove`. */
export function addConsoleCommands(command: Command): void {
  const users = command.command('users').description('users of the console');
  addPasswordOptions(
    users
      .command('add')
      .description('add a user')
      .argument('<name>', 'lower-case letters, digits, dots, hyphens, underscores'),
  )
    .addOption(
      new Option(
        '--role <role>',
        'what the user may do: read; also decide and submit; also run nights and delete; or, for an agency, see and submit what is its own',
      )
        .choices(ROLES)
        .default('viewer'),
    )
    .option(
      '--owner <client...>',
      'owners of brands that the user acts for: an agency sees theirs only, and nobody decides on those of his own',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  caller-trust console users add ada --role operator --generate\n  caller-trust console users add ben --role reviewer --password-file /run/secrets/ben\n  caller-trust console users add agnes --role agency --owner northwind-agency --generate',
    )
    .action(run(addCommand));
  users.command('list').description('list the users').action(runWith(listCommand));
  users
    .command('role')
    .description('give a user another role')
    .argument('<name>', 'the user')
    .argument('<role>', ROLES.join(', '))
    .option('--owner <client...>', 'owners of brands that the user acts for from now on; omit to keep the current ones')
    .addHelpText('after', '\nExample:\n  caller-trust console users role ben operator')
    .action(runWith(roleCommand));
  addPasswordOptions(
    users
      .command('password')
      .description('give a user another password; open sessions end')
      .argument('<name>', 'the user'),
  )
    .addHelpText('after', '\nExample:\n  caller-trust console users password ben --generate')
    .action(run(passwordCommand));
  users
    .command('remove')
    .description('remove a user; the trail of what the user did stays')
    .argument('<name>', 'the user')
    .addHelpText('after', '\nExample:\n  caller-trust console users remove ben')
    .action(runWith(removeCommand));
}

function addPasswordOptions(command: Command): Command {
  return command
    .option(
      '--password-file <file>',
      `file with the password, ${passwordCharactersMin} characters or more; without it the terminal asks`,
    )
    .addOption(new Option('--generate', 'make a password and show it once').conflicts('passwordFile'));
}

async function addCommand(
  name: string,
  { role, owner: owners = [], ...options }: PasswordOptions & { role: string; owner?: string[] },
): Promise<Outcome> {
  const password = await choosePassword(options);
  return withServices(async ({ db }) => {
    const user = await addUser(db, { name, role, password, owners });
    await record(db, 'add_user', name, { role, ...ownersIn(user) });
    return shown({ name, role: user.role, ...ownersIn(user) }, options.generate === true ? password : undefined);
  });
}

async function passwordCommand(name: string, options: PasswordOptions): Promise<Outcome> {
  const password = await choosePassword(options);
  return withServices(async ({ db }) => {
    await changePassword(db, name, password);
    await record(db, 'change_password', name);
    return shown({ name }, options.generate === true ? password : undefined);
  });
}

function shown(user: Record<string, string>, password: string | undefined): Outcome {
  const json = password === undefined ? user : { ...user, password };
  return {
    json,
    text: formatFacts(
      Object.entries({ user: user['name'], role: user['role'], 'acts for': user['owners'], password }).filter(
        ([, value]) => value !== undefined,
      ) as [string, string][],
    ),
  };
}

/** The owners of a user as text; undefined for a user without owners. */
function ownersIn({ owners }: ConsoleUser): { owners?: string } {
  return owners.length === 0 ? {} : { owners: owners.join(', ') };
}

async function roleCommand(
  { db }: Services,
  name: string,
  role: string,
  { owner: owners }: { owner?: string[] },
): Promise<Outcome> {
  const user = await changeRole(db, name, role, owners);
  await record(db, 'change_role', name, { role, ...ownersIn(user) });
  return {
    json: user,
    text: `User ${name} has the role ${user.role}${user.owners.length === 0 ? '' : `, and acts for ${user.owners.join(', ')}`}.`,
  };
}

async function removeCommand({ db }: Services, name: string): Promise<Outcome> {
  await removeUser(db, name);
  await record(db, 'remove_user', name);
  return { json: { name, removed: true }, text: `User ${name} is removed.` };
}

async function listCommand({ db }: Services): Promise<Outcome> {
  const users = await listUsers(db);
  const text = formatTable(users, [
    { title: 'name', value: ({ name }) => name },
    { title: 'role', value: ({ role }) => role },
    { title: 'acts for', value: ({ owners }) => owners.join(', ') },
    { title: 'sessions', value: ({ sessions }) => sessions },
    { title: 'seen', value: ({ seenAt }) => formatTime(seenAt) },
    { title: 'added', value: ({ createdAt }) => formatTime(createdAt) },
  ]);
  return {
    json: users,
    text:
      users.length === 0
        ? 'The console has no user yet: `caller-trust console users add NAME --role operator --generate` makes one.'
        : text,
  };
}

function record(db: Pool, action: Action, name: string, detail: Record<string, string> = {}): Promise<void> {
  return recordEvent(db, { actor: currentActor(), action, object: `user ${name}`, detail });
}

/** 24 characters of base64url: 144 bits. */
const generatedBytes = 18;

async function choosePassword({ passwordFile, generate = false }: PasswordOptions): Promise<string> {
  if (generate) return randomBytes(generatedBytes).toString('base64url');
  if (passwordFile !== undefined) return readPasswordFile(passwordFile);
  if (!process.stdin.isTTY)
    throw new ServiceError('usage_invalid', {
      operation: 'read password',
      problem: 'There is no terminal to ask for the password.',
      hint: 'Give --password-file or --generate.',
    });
  return askPassword();
}

async function readPasswordFile(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ServiceError('usage_invalid', {
      operation: 'read password',
      object: path,
      problem: 'The file cannot be read.',
      cause,
    });
  });
  return text.replace(/\r?\n$/, '');
}

/** Prompts on the terminal without echo. */
async function askPassword(): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  process.stderr.write('Password: ');
  try {
    return await new Promise((resolve, reject) => {
      terminal.question('', resolve);
      terminal.once('SIGINT', () => reject(new ServiceError('interrupted', { operation: 'read password' })));
    });
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
