import { CHANNEL_MODES, type ScoringSettings } from '../verification.ts';
import { sha256Of } from '../../../runtime/digest.ts';

/** What a batch that says nothing gets: the two sides of a call are scored apart. */
export const defaultSettings: ScoringSettings = { channels: CHANNEL_MODES[0] };

/** Digest of settings, part of what makes two results the same. */
export function digestOfSettings({ channels }: ScoringSettings): string {
  return sha256Of(JSON.stringify({ channels }));
}
