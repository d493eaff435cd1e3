#!/usr/bin/env node
import { Command, CommanderError, Help } from 'commander';
import { exitCodes } from './cli/exit-codes.ts';
import { packageVersion } from './runtime/package-root.ts';

/** A command of the program, or a group of commands. */
interface Area {
  /** Its name, and what follows it in the help. */
  readonly usage: string;
  readonly description: string;
  /** Loads what gives the command its options and its action, or the group its commands. */
  readonly load: () => Promise<(command: Command) => void>;
}

/** In the order of the help. Only the one that is named is loaded: loading all takes half a second. */
const AREAS: readonly Area[] = [
  {
    usage: 'migrate [options]',
    description: 'bring the database to this version',
    load: async () => (await import('./cli/service/doctor.ts')).defineMigrate,
  },
  {
    usage: 'doctor [options]',
    description: 'show what was resolved: database, queues, store, versions',
    load: async () => (await import('./cli/service/doctor.ts')).defineDoctor,
  },
  {
    usage: 'feed',
    description: 'load feeds and read their outcomes',
    load: async () => (await import('./cli/labels/feed.ts')).addFeedCommands,
  },
  {
    usage: 'number',
    description: 'what is known of a number, redress, and numbers for branding',
    load: async () => (await import('./cli/labels/number.ts')).addNumberCommands,
  },
  {
    usage: 'brand',
    description: 'managed brands: register, change, decide, read',
    load: async () => (await import('./cli/branding/brand.ts')).addBrandCommands,
  },
  {
    usage: 'letter',
    description: 'letters of authorization: issue, read, decide, delete',
    load: async () => (await import('./cli/branding/letter.ts')).addLetterCommands,
  },
  {
    usage: 'operation',
    description: 'requests for branding, and their outcomes',
    load: async () => (await import('./cli/branding/branding-operation.ts')).addBrandingOperationCommands,
  },
  {
    usage: 'verify [options] <path>',
    description: 'verify recordings: was the voice synthesized, or replayed?',
    load: async () => (await import('./cli/audio/verify.ts')).defineVerify,
  },
  {
    usage: 'batch',
    description: 'batches of recordings: progress and results',
    load: async () => (await import('./cli/audio/batch.ts')).addBatchCommands,
  },
  {
    usage: 'recording',
    description: 'stored audio',
    load: async () => (await import('./cli/audio/recording.ts')).addRecordingCommands,
  },
  {
    usage: 'models',
    description: 'models of audio authenticity: the registry, and its changes',
    load: async () => (await import('./cli/audio/models.ts')).addModelCommands,
  },
  {
    usage: 'voice',
    description: 'voiceprints: enrol a person with consent, compare recordings, delete',
    load: async () => (await import('./cli/audio/voice.ts')).addVoiceCommands,
  },
  {
    usage: 'evaluate [options]',
    description: 'measure models on a test set: error rates with intervals, costs, calibration',
    load: async () => (await import('./cli/audio/evaluate.ts')).defineEvaluate,
  },
  {
    usage: 'night',
    description: 'build and publish the caches',
    load: async () => (await import('./cli/caches/night.ts')).addNightCommands,
  },
  {
    usage: 'trust',
    description: 'signatures of what is published',
    load: async () => (await import('./cli/service/trust.ts')).addTrustCommands,
  },
  {
    usage: 'artefacts',
    description: 'the published files',
    load: async () => (await import('./cli/caches/artefacts.ts')).addArtefactCommands,
  },
  {
    usage: 'cache',
    description: 'files of caches, as clients have them',
    load: async () => (await import('./cli/caches/cache.ts')).addCacheCommands,
  },
  {
    usage: 'pull [options] <url>',
    description: 'keep copies of published caches up to date',
    load: async () => (await import('./cli/caches/pull.ts')).definePull,
  },
  {
    usage: 'lookup [options] <from> <phone>',
    description: 'look a number up in a published cache without downloading it, or in a copy that `pull` keeps',
    load: async () => (await import('./cli/caches/lookup.ts')).defineLookup,
  },
  {
    usage: 'keys',
    description: 'keys of the API',
    load: async () => (await import('./cli/service/keys.ts')).addKeyCommands,
  },
  {
    usage: 'intake',
    description: 'work that remote clients have sent',
    load: async () => (await import('./cli/service/intake.ts')).addIntakeCommands,
  },
  {
    usage: 'webhooks',
    description: 'endpoints that are notified of changes',
    load: async () => (await import('./cli/service/webhooks.ts')).addWebhookCommands,
  },
  {
    usage: 'console',
    description: 'the console: who may log in',
    load: async () => (await import('./cli/service/console.ts')).addConsoleCommands,
  },
  {
    usage: 'start [options]',
    description: 'run every process of the Procfile; without DATABASE_URL on the embedded database',
    load: async () => (await import('./cli/service/start.ts')).defineStart,
  },
  {
    usage: 'demo [options]',
    description: 'run nights on sample feeds, download every file back, follow a change, verify sample recordings',
    load: async () => (await import('./cli/demo/demo.ts')).defineDemo,
  },
];

const program = new Command('caller-trust')
  .description('Phone reputation caches, branded calling and the authenticity of recordings')
  .version(await packageVersion())
  .option('--json', 'print results as JSON')
  .showHelpAfterError('(--help shows what is possible)')
  .exitOverride()
  .addHelpText(
    'after',
    '\nExit codes: 0 done, 1 failed, 2 usage, 3 some recordings could not be scored, 69 a service is missing.\nSettings come from the environment: docs/configuration.md.',
  );

const named = namedArea(process.argv.slice(2));
for (const { usage, description, load } of AREAS) {
  const command = program.command(nameOf(usage)).description(description);
  if (command.name() === named) (await load())(command);
}
acceptJson(program);
program.configureHelp({ subcommandTerm: (command) => usageOf(command) }); // now, so that no command inherits it

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error; // the reader of a pipe, such as head(1), has enough
});
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
}

/** The first word that is no option; the second one after `help`. */
function namedArea(words: readonly string[]): string | undefined {
  const [first, second] = words.filter((word) => !word.startsWith('-'));
  return first === 'help' ? second : first;
}

function nameOf(usage: string): string {
  return usage.split(' ', 1)[0]!;
}

/** A command in the help of the program: commander knows the options and arguments of those that are loaded only. */
function usageOf(command: Command): string {
  const area = AREAS.find(({ usage }) => nameOf(usage) === command.name());
  return area?.usage ?? new Help().subcommandTerm(command);
}

/** `--json` is also accepted after a subcommand. */
function acceptJson(command: Command): void {
  for (const child of command.commands) {
    if (child.commands.length === 0) child.option('--json', 'print results as JSON');
    acceptJson(child);
  }
}
