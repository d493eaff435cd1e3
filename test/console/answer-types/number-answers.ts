import type { shownNumber } from '../../../console/answers/number-answers.ts';
import type * as page from '../../../console/pages/numbers/number-types.ts';
import type { listDisputes, openDisputeContact } from '../../../pipelines/labels/number-dispute.ts';
import type { Fits, Told } from './json.ts';

/** What the pages of numbers and disputes read, against what they are answered. */
export interface NumberAnswersFit {
  readonly number: Fits<page.ShownNumber, Told<typeof shownNumber>>;
  readonly disputes: Fits<page.Dispute[], Told<typeof listDisputes>>;
  readonly contact: Fits<page.DisputeContact['contact'], Told<typeof openDisputeContact>>;
}
