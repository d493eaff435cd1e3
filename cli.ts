#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { exitCodes } from './cli/command.ts';
import { packageVersion } from './runtime/package-root.ts';

/** Adds commands to the program. */
type AddCommands = (program: Command) => void;

/** The module of each command, in the order of the help, loaded on demand: loading all of them takes a second. */
const COMMANDS: Record<string, () => Promise<AddCommands>> = {
  migrate: async () => (await import('./cli/service/doctor.ts')).addOperationCommands,
  doctor: async () => (await import('./cli/service/doctor.ts')).addOperationCommands,
  feed: async () => (await import('./cli/labels/feed.ts')).addFeedCommands,
  number: async () => (await import('./cli/labels/number.ts')).addNumberCommands,
  brand: async () => (await import('./cli/branding/brand.ts')).addBrandCommands,
  letter: async () => (await import('./cli/branding/letter.ts')).addLetterCommands,
  operation: async () => (await import('./cli/branding/branding-operation.ts')).addBrandingOperationCommands,
  verify: async () => (await import('./cli/audio/verify.ts')).addVerifyCommand,
  batch: async () => (await import('./cli/audio/batch.ts')).addBatchCommands,
  recording: async () => (await import('./cli/audio/recording.ts')).addRecordingCommands,
  models: async () => (await import('./cli/audio/models.ts')).addModelCommands,
  voice: async () => (await import('./cli/audio/voice.ts')).addVoiceCommands,
  evaluate: async () => (await import('./cli/audio/evaluate.ts')).addEvaluateCommand,
  night: async () => (await import('./cli/caches/night.ts')).addNightCommands,
  trust: async () => (await import('./cli/service/trust.ts')).addTrustCommands,
  artefacts: async () => (await import('./cli/caches/artefacts.ts')).addArtefactCommands,
  cache: async () => (await import('./cli/caches/cache.ts')).addCacheCommands,
  pull: async () => (await import('./cli/caches/pull.ts')).addPullCommand,
  lookup: async () => (await import('./cli/caches/lookup.ts')).addLookupCommand,
  keys: async () => (await import('./cli/service/keys.ts')).addKeyCommands,
  intake: async () => (await import('./cli/service/intake.ts')).addIntakeCommands,
  webhooks: async () => (await import('./cli/service/webhooks.ts')).addWebhookCommands,
  console: async () => (await import('./cli/service/console.ts')).addConsoleCommands,
  start: async () => (await import('./cli/service/start.ts')).addStartCommand,
  demo: async () => (await import('./cli/demo/demo.ts')).addDemoCommand,
};

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

for (const add of new Set(await loadCommands(process.argv.slice(2)))) add(program);
inheritExit(program);

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error; // the reader of a pipe, such as head(1), has enough
});
try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
}

/** Subcommands do not inherit the exit override of a parent that gets it later; `--json` is also accepted after a subcommand. */
function inheritExit(command: Command): void {
  for (const child of command.commands) {
    child.exitOverride();
    if (child.commands.length === 0) child.option('--json', 'print results as JSON');
    inheritExit(child);
  }
}

/** The named command; none for the version; all commands otherwise, for the help text or for the error of an unknown one. */
async function loadCommands(words: readonly string[]): Promise<AddCommands[]> {
  const word = words.find((each) => !each.startsWith('-')) ?? '';
  if (word === '' && words.some((each) => each === '--version' || each === '-V')) return [];
  return Object.hasOwn(COMMANDS, word)
    ? [await COMMANDS[word]!()]
    : Promise.all(Object.values(COMMANDS).map((load) => load()));
}
