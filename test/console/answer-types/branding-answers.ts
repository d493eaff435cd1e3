import type {
  listBrandHistory,
  listBrandsFor,
  RevealedFields,
  shownBrand,
  withProofs,
} from '../../../console/answers/brand-answers.ts';
import type {
  countWaiting,
  listRequestedNumbers,
  listWaitingBrands,
  listWaitingLetters,
  readShownLetter,
  reviewedLetter,
} from '../../../console/answers/letter-answers.ts';
import type { listOperations, OPERATION_STANDINGS } from '../../../console/answers/operation-answers.ts';
import type * as page from '../../../console/pages/branding/brand-types.ts';
import type * as names from '../../../console/pages/branding/protected-name-types.ts';
import type { pageOf } from '../../../console/http/paging.ts';
import type { requestBranding } from '../../../jobs/queues/branding-producer.ts';
import type { requestProofs } from '../../../jobs/queues/proof-producer.ts';
import type { listLetters } from '../../../pipelines/branding/brand/brand-record.ts';
import type { OwnProtectedName } from '../../../pipelines/branding/names/protected-name-record.ts';
import type { Severity } from '../../../pipelines/branding/finding.ts';
import type { listOperationRows, readOperation } from '../../../pipelines/branding/operation.ts';
import type { BrandState, LetterState, NumberState } from '../../../pipelines/branding/states.ts';
import type { Fits, Json, Told } from './json.ts';

/** What the pages of brands, letters and requests read, against what they are answered. */
export interface BrandingAnswersFit {
  readonly place: Fits<page.Listed, Told<typeof pageOf>>;
  readonly brands: Fits<page.BrandSummary[], Told<typeof listBrandsFor>>;
  readonly brand: Fits<page.Brand, Told<typeof shownBrand>>;
  readonly numbers: Fits<page.BrandNumber[], Told<typeof withProofs>>;
  readonly history: Fits<page.BrandingEvent[], Told<typeof listBrandHistory>>;
  readonly privateFields: Fits<page.RevealedFields, Json<RevealedFields>>;
  readonly letters: Fits<page.Letter[], Told<typeof listLetters>>;
  readonly letter: Fits<page.ListedLetter, Told<typeof readShownLetter>>;
  readonly requestedNumbers: Fits<page.RequestedNumber[], Told<typeof listRequestedNumbers>>;
  readonly reviewedLetter: Fits<page.ReviewedLetter, Told<typeof reviewedLetter>>;
  readonly waitingLetters: Fits<page.WaitingLetter[], Told<typeof listWaitingLetters>>;
  readonly waitingBrands: Fits<page.WaitingBrand[], Told<typeof listWaitingBrands>>;
  readonly waitingCounts: Fits<page.WaitingCounts, Told<typeof countWaiting>>;
  readonly operations: Fits<page.OperationSummary[], Told<typeof listOperations>>;
  readonly operation: Fits<page.Operation, Told<typeof readOperation>>;
  readonly operationRows: Fits<page.OperationRow[], Told<typeof listOperationRows>>;
  readonly takenRequest: Fits<page.TakenRequest, Told<typeof requestBranding>>;
  readonly protectedNames: Fits<names.ProtectedName[], Json<OwnProtectedName[]>>;
  readonly protectedList: Fits<
    names.ProtectedNames,
    Json<{ names: OwnProtectedName[]; categories: readonly string[] }>
  >;
  readonly nearName: Fits<names.NearName, Json<{ near: { name: string; category: string; how: string } | null }>>;
  readonly startedProofs: Fits<page.StartedProofs, Told<typeof requestProofs>>;
}

/** What the pages offer to choose from and sort by is what there is, both ways. */
export interface BrandingListsFit {
  readonly brandStates: [Fits<page.BrandState, BrandState>, Fits<BrandState, page.BrandState>];
  readonly letterStates: [Fits<page.LetterState, LetterState>, Fits<LetterState, page.LetterState>];
  readonly numberStates: [Fits<page.NumberState, NumberState>, Fits<NumberState, page.NumberState>];
  readonly standings: [
    Fits<page.OperationStanding, OperationStanding>,
    Fits<OperationStanding, page.OperationStanding>,
  ];
  readonly severities: [Fits<page.Severity, Severity>, Fits<Severity, page.Severity>];
}

type OperationStanding = (typeof OPERATION_STANDINGS)[number];
