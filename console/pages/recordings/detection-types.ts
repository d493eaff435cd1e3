import type { Scores, ScoredWindow } from './verification-types.ts';

/** What a recording becomes when it was handed in. */
export interface HandedIn {
  readonly batch: string;
  readonly verification: string;
  readonly repeated: boolean;
}

/** What the service says while audio goes up: docs/streaming.md. */
export type StreamMessage =
  | {
      readonly type: 'ready';
      readonly stream: string;
      readonly model: string;
      readonly thresholds: Scores;
      readonly limits: { readonly secondsMax: number };
    }
  | ({ readonly type: 'window' } & ScoredWindow)
  | { readonly type: 'progress'; readonly receivedSeconds: number; readonly voiceSeconds: number }
  | { readonly type: 'verification'; readonly verification: { readonly id: string } }
  | { readonly type: 'error'; readonly code: string; readonly problem: string; readonly hint: string | null };
