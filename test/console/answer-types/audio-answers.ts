import type { listAllBatches, listItems, readLiveBatch } from '../../../console/answers/batch-answers.ts';
import type { HandedIn, readDetectionFacts } from '../../../console/answers/detection-answers.ts';
import type { ModelFigures } from '../../../console/answers/model-figures.ts';
import type {
  listReports,
  readModel,
  readRegistry,
  readVoiceModel,
  shownReport,
} from '../../../console/answers/model-answers.ts';
import type * as batches from '../../../console/pages/recordings/batch-types.ts';
import type * as detection from '../../../console/pages/recordings/detection-types.ts';
import type * as models from '../../../console/pages/voices/model-types.ts';
import type * as page from '../../../console/pages/recordings/verification-types.ts';
import type * as voices from '../../../console/pages/voices/voice-types.ts';
import type { listVerifications, VerificationDetail } from '../../../console/answers/verification-answers.ts';
import type {
  listComparisons,
  listVoiceprints,
  readEnrolmentLimits,
  readShownVoiceprint,
} from '../../../console/answers/voice-answers.ts';
import type { Waveforms } from '../../../console/answers/waveforms.ts';
import type { isWorkerConnected } from '../../../console/answers/worker-presence.ts';
import type { requestRetry } from '../../../jobs/queues/verification-producer.ts';
import type { BatchState } from '../../../pipelines/audio/batches/batch.ts';
import type { ServerMessage } from '../../../pipelines/audio/streaming/stream-protocol.ts';
import type { DecisionLabel, VerificationState, WindowLabel } from '../../../pipelines/audio/verification.ts';
import type { enrolVoiceprint } from '../../../pipelines/audio/voices/voice-enrolment.ts';
import type { verifyVoice } from '../../../pipelines/audio/voices/voice-verification.ts';
import type { Fits, Json, Told } from './json.ts';

type IsConnected = Awaited<ReturnType<typeof isWorkerConnected>>;

/** What the pages of verifications, batches and the demo read, against what they are answered. */
export interface VerificationAnswersFit {
  readonly verifications: Fits<
    { verifications: page.ListedVerification[]; next: string | null },
    Told<typeof listVerifications>
  >;
  readonly verification: Fits<
    page.LiveVerification,
    Json<{ verification: VerificationDetail & { figures: ModelFigures | null }; workerConnected: IsConnected | null }>
  >;
  readonly waveform: Fits<page.Waveform, Told<Waveforms['read']>>;
  readonly batches: Fits<{ batches: batches.ListedBatch[]; next: string | null }, Told<typeof listAllBatches>>;
  readonly batch: Fits<batches.LiveBatch, Told<typeof readLiveBatch>>;
  readonly items: Fits<{ items: batches.BatchItem[]; next: string | null }, Told<typeof listItems>>;
  readonly retried: Fits<batches.RetriedBatch, Told<typeof requestRetry>>;
  readonly demo: Fits<page.DetectionFacts, Told<typeof readDetectionFacts>>;
  readonly handedIn: Fits<detection.HandedIn, Json<HandedIn>>;
  readonly stream: Fits<detection.StreamMessage, Json<ServerMessage>>;
}

/** What the pages of models read. */
export interface ModelAnswersFit {
  readonly registry: Fits<models.Registry, Told<typeof readRegistry>>;
  readonly model: Fits<models.ModelFacts, Told<typeof readModel>>;
  readonly voiceprintModel: Fits<models.VoiceprintModel, Told<typeof readVoiceModel>>;
  readonly reports: Fits<models.ReportPage, Told<typeof listReports>>;
  readonly report: Fits<models.DriftReport, Told<typeof shownReport>>;
}

/** What the pages of voices read. */
export interface VoiceAnswersFit {
  readonly voiceprints: Fits<voices.VoiceprintPage, Told<typeof listVoiceprints>>;
  readonly voiceprint: Fits<voices.VoiceprintHistory, Told<typeof readShownVoiceprint>>;
  readonly limits: Fits<voices.EnrolmentLimits, Told<typeof readEnrolmentLimits>>;
  readonly enrolled: Fits<voices.Enrolled, Told<typeof enrolVoiceprint>>;
  readonly compared: Fits<voices.ComparisonResult, Told<typeof verifyVoice>>;
  readonly comparisons: Fits<voices.ComparisonPage, Told<typeof listComparisons>>;
}

/** What the pages offer to choose from is what there is, both ways. */
export interface AudioListsFit {
  readonly batchStates: [Fits<batches.BatchState, BatchState>, Fits<BatchState, batches.BatchState>];
  readonly states: [Fits<page.VerificationState, VerificationState>, Fits<VerificationState, page.VerificationState>];
  readonly labels: [Fits<page.DecisionLabel, DecisionLabel>, Fits<DecisionLabel, page.DecisionLabel>];
  readonly windowLabels: [Fits<page.WindowLabel, WindowLabel>, Fits<WindowLabel, page.WindowLabel>];
}
