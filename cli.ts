#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { addArtefactCommands } from './cli/artefacts.ts';
import { addBatchCommands } from './cli/batch.ts';
import { addBrandCommands } from './cli/brand.ts';
import { addBrandingOperationCommands } from './cli/branding-operation.ts';
import { addCacheCommands } from './cli/cache.ts';
import { exitCodes } from './cli/command.ts';
import { addDemoCommand } from './cli/demo.ts';
import { addEvaluateCommand } from './cli/evaluate.ts';
import { addFeedCommands } from './cli/feed.ts';
import { addKeyCommands } from './cli/keys.ts';
import { addLetterCommands } from './cli/letter.ts';
import { addLookupCommand } from './cli/lookup.ts';
import { addModelCommands } from './cli/models.ts';
import { addNightCommands } from './cli/night.ts';
import { addNumberCommands } from './cli/number.ts';
import { addOperationCommands, packageVersion } from './cli/operation.ts';
import { addPullCommand } from './cli/pull.ts';
import { addRecordingCommands } from './cli/recording.ts';
import { addStartCommand } from './cli/start.ts';
import { addVerifyCommand } from './cli/verify.ts';
import { addVoiceCommands } from './cli/voice.ts';

const program = new Command('caller-trust')
  .description('Phone reputation caches, branded calling and the authenticity of recordings')
  .version(await packageVersion())
  .option('--json', 'print results as JSON')
  .showHelpAfterError('(--help shows what is possible)')
  .exitOverride()
  .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 usage, 3 some recordings could not be scored, 69 a service is missing.\nSettings come from the environment: docs/configuration.md.');

addOperationCommands(program);
addFeedCommands(program);
addNumberCommands(program);
addBrandCommands(program);
addLetterCommands(program);
addBrandingOperationCommands(program);
addVerifyCommand(program);
addBatchCommands(program);
addRecordingCommands(program);
addModelCommands(program);
addVoiceCommands(program);
addEvaluateCommand(program);
addNightCommands(program);
addArtefactCommands(program);
addCacheCommands(program);
addPullCommand(program);
addLookupCommand(program);
addKeyCommands(program);
addStartCommand(program);
addDemoCommand(program);
inheritExit(program);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
}

/** Subcommands are made before they could inherit how their parents exit, and `--json` may stand after them too. */
function inheritExit(command: Command): void {
  for (const child of command.commands) {
    child.exitOverride();
    if (child.commands.length === 0) child.option('--json', 'print results as JSON');
    inheritExit(child);
  }
}
