import type { Command } from 'commander';
import { AudioStore } from '../../pipelines/audio/store/audio-store.ts';
import { deleteRecording } from '../../pipelines/audio/batches/retention.ts';
import { runWith, type Outcome } from '../command.ts';
import { formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

/** `recording delete`. */
export function addRecordingCommands(recording: Command): void {
  recording
    .command('delete')
    .description('delete stored audio; its results stay')
    .argument('<sha256>', 'digest of the audio, as results show it', (text) => text.toLowerCase())
    .requiredOption('--reason <text>', 'why, kept with its row')
    .addHelpText('after', "\nExample:\n  caller-trust recording delete e3b0c442… --reason 'Request of the caller'")
    .action(runWith(deleteCommand));
}

async function deleteCommand(
  { db, config }: Services,
  sha256: string,
  { reason }: { reason: string },
): Promise<Outcome> {
  const end = await deleteRecording({ db, store: new AudioStore(config.audioDir) }, sha256, reason);
  const text = end.deleted
    ? `The audio of ${sha256} is deleted.`
    : `The audio of ${sha256} was deleted at ${formatTime(end.at)}: ${end.reason}`;
  return { json: { sha256, ...end }, text };
}
