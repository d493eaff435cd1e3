import type { Decision, ReasonFacts, Scores, VerificationState } from './verification-types.ts';

/** What the routes of batches answer; times are ISO 8601 text. */

/** A batch in a list, with how many of its items have no outcome yet. */
export interface ListedBatch {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly mode: 'api' | 'webDemo';
  readonly requestedModel: string;
  readonly state: BatchState;
  readonly items: number;
  readonly open: number;
  readonly requestedAt: string;
  readonly endedAt: string | null;
}

/** A batch as it stands at this moment. */
export interface LiveBatch {
  readonly batch: {
    readonly id: string;
    readonly name: string;
    readonly owner: string;
    readonly key: string;
    readonly mode: 'api' | 'webDemo';
    readonly requestedModel: string;
    readonly release: string;
    readonly pinned: { readonly phone: string | null; readonly digital: string | null };
    readonly settings: { readonly channels: 'apart' | 'mixed' };
    readonly state: BatchState;
    readonly generation: number;
    readonly items: number;
    readonly requestedBy: string;
    readonly requestedAt: string;
    readonly endedAt: string | null;
  };
  readonly counts: Readonly<Record<VerificationState, number>>;
  readonly reasons: readonly (ReasonFacts & { readonly items: number })[];
  readonly workerConnected: boolean | null;
}

/** A recording of a batch. */
export interface BatchItem {
  readonly id: string;
  readonly line: number;
  readonly source: string;
  readonly state: VerificationState;
  readonly model: string | null;
  readonly requestedModel: string;
  readonly scores: Scores | null;
  readonly decision: Decision | null;
  readonly why: ReasonFacts | null;
  readonly audio: { readonly duration: number | null } | null;
}

/** How many items were queued again. */
export interface RetriedBatch {
  readonly retried: number;
}

/** States of batches, for filters. */
export const batchStates = ['open', 'queued', 'performing', 'done', 'cancelled'] as const;

export type BatchState = (typeof batchStates)[number];
