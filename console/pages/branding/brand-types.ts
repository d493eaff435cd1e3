/** What the branding routes of the console answer; times are ISO 8601 text. */

/** A page of a list and where the next one begins. */
export interface Listed {
  readonly next: string | null;
}

/** A brand in a list. */
export interface BrandSummary {
  readonly handle: string;
  readonly owner: string;
  readonly state: BrandState;
  readonly displayName: string;
  readonly legalName: string;
  readonly pendingDisplayName: string | null;
  readonly changedAt: string;
  readonly verifiedNumbers: number;
}

/** What everybody sees of a brand's profile. */
export interface Profile {
  readonly legalName: string;
  readonly dba: string | null;
  readonly displayName: string;
  readonly website: string | null;
  readonly country: string;
  readonly address: string | null;
  readonly callReasons: readonly string[];
  readonly logo: string | null;
  readonly relationship: string;
  /** True if there are a contact or a tax id, which are shown on demand. */
  readonly hasPrivate: boolean;
}

/** What is shown of a profile on demand only. */
export interface PrivateFields {
  readonly contact: { readonly name: string; readonly email: string; readonly phone: string | null } | null;
  readonly taxId: string | null;
}

/** Private fields, once they were asked for. */
export interface RevealedFields {
  readonly profile: PrivateFields;
  readonly pendingProfile: PrivateFields | null;
}

/** One thing that was checked, without the text that it was read from. */
export interface PublicFinding {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly page: number | null;
  readonly line: number | null;
}

/** A brand with its letters, and what can be done to it now. */
export interface Brand {
  readonly handle: string;
  readonly owner: string;
  readonly state: BrandState;
  readonly approvedRevision: number | null;
  readonly pendingRevision: number | null;
  readonly createdAt: string;
  readonly changedAt: string;
  readonly approvedAt: string | null;
  readonly profile: Profile;
  readonly pendingProfile: Profile | null;
  readonly findings: readonly PublicFinding[];
  readonly numbers: Readonly<Record<string, number>>;
  readonly letters: readonly Letter[];
  readonly can: {
    readonly decide: boolean;
    readonly suspend: boolean;
    readonly resume: boolean;
    readonly withdraw: boolean;
  };
  /** Why who looks at it may not decide what waits. */
  readonly whyNotDecide: string | null;
}

/** A number of a brand. */
export interface BrandNumber {
  readonly numberId: number;
  readonly phone: string;
  readonly country: string | null;
  readonly state: NumberState;
  readonly callReason: string | null;
  readonly changedAt: string;
  readonly verifiedAt: string | null;
  readonly liveUntil: string | null;
  /** Until when it is proven that the brand answers it, and the proof that is under way. */
  readonly proof: {
    readonly provenUntil: string | null;
    readonly pending: {
      readonly proofId: number;
      /** Null where others of its block are called. */
      readonly call: {
        readonly placedAt: string | null;
        readonly expiresAt: string | null;
        readonly triesLeft: number;
        readonly confirmed: boolean;
      } | null;
    } | null;
  };
}

/** What a request for proofs of numbers came to. */
export interface StartedProofs {
  readonly started: readonly { readonly called: readonly string[] }[];
}

/** An entry of a brand's audit trail. */
export interface BrandingEvent {
  readonly eventId: number;
  readonly at: string;
  readonly subject: string;
  readonly letterId: number | null;
  readonly phone: string | null;
  readonly action: string;
  readonly before: string | null;
  readonly after: string;
  readonly actor: string;
  readonly reason: string;
  readonly operationId: number | null;
}

/** A letter without its text. */
export interface Letter {
  readonly letterId: number;
  readonly handle: string;
  readonly owner: string;
  readonly revision: number;
  readonly operationId: number;
  readonly state: LetterState;
  readonly submittedAt: string;
  readonly ruleVersion: string;
  readonly format: string | null;
  readonly pages: number | null;
  readonly signedOn: string | null;
  readonly decidedAt: string | null;
  readonly decidedBy: string | null;
  readonly decisionReason: string | null;
  readonly validFrom: string | null;
  readonly validUntil: string | null;
  readonly numbers: number;
  readonly document: { readonly sha256: string; readonly bytes: number; readonly destroyedAt: string | null };
}

/** What was asked for with a letter. */
export interface LetterRequest {
  readonly kind: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly callReason: string | null;
  readonly profile: Profile;
  readonly brandState: BrandState;
  readonly requested: number;
  readonly authorized: number;
}

/** A letter as everybody may see it. */
export interface ListedLetter extends Letter {
  readonly findings: readonly (PublicFinding & { readonly meaning: string })[];
  readonly request: LetterRequest;
}

/** A number that was requested with a letter. */
export interface RequestedNumber {
  readonly line: number;
  readonly phone: string;
  readonly authorized: boolean;
  readonly state: NumberState | null;
}

/** A rectangle of a page as fractions of its width and height. */
export interface Place {
  readonly page: number;
  readonly line: number;
  readonly box: { readonly left: number; readonly top: number; readonly width: number; readonly height: number } | null;
}

/** A finding with the text and the place that it was read from. */
export interface PlacedFinding extends PublicFinding {
  readonly meaning: string;
  readonly excerpt: string | null;
  readonly place: Place | null;
}

/** Something that was found in a letter. */
export interface FoundField {
  readonly name: string;
  readonly value: string;
  readonly excerpt: string | null;
  readonly place: Place | null;
}

/** A page of a letter with its text. */
export interface LetterPage {
  readonly page: number;
  readonly width: number;
  readonly height: number;
  readonly source: 'text' | 'ocr';
  /** Degrees clockwise by which its picture is shown turned. */
  readonly turned: number;
  readonly lines: readonly { readonly text: string; readonly confidence: number | null }[];
}

/** A digital signature in a PDF, as it was verified. */
export interface PdfSignature {
  readonly field: string;
  readonly signerName: string | null;
  readonly signerOrganization: string | null;
  readonly signedAt: string | null;
  readonly digestMatches: boolean;
  readonly signatureValid: boolean;
  readonly coverage: 'whole' | 'extended' | 'changed' | 'partial';
  readonly timeStamp: {
    readonly time: string;
    readonly authority: string | null;
    readonly chain: PdfSignature['chain'];
  } | null;
  readonly chain: 'trusted' | 'untrusted' | 'unchecked';
  readonly problem: string | null;
}

/** A letter as those see it who decide. */
export interface ReviewedLetter {
  /** Why who looks at it may not decide it. */
  readonly whyNotDecide: string | null;
  readonly letter: Letter;
  readonly request: LetterRequest;
  readonly reading: {
    readonly findings: readonly PlacedFinding[];
    readonly fields: readonly FoundField[];
    readonly numberPlaces: readonly Place[];
    readonly confidence: number | null;
    readonly pages: readonly LetterPage[];
    readonly signatures: readonly PdfSignature[];
    readonly embeddedCsv: string | null;
  };
}

/** A letter that waits for a person. */
export interface WaitingLetter {
  readonly letterId: number;
  readonly handle: string;
  readonly owner: string;
  readonly displayName: string;
  readonly submittedAt: string;
  readonly format: string | null;
  readonly pages: number | null;
  readonly requested: number;
  readonly findings: readonly string[];
}

/** A brand, or the pending revision of one, that waits for a person. */
export interface WaitingBrand {
  readonly handle: string;
  readonly owner: string;
  readonly state: BrandState;
  readonly approvedDisplayName: string | null;
  readonly pendingDisplayName: string;
  readonly waitingSince: string;
  readonly findings: readonly string[];
}

/** How many wait for a person. */
export interface WaitingCounts {
  readonly letters: number;
  readonly brands: number;
  readonly disputes: number;
}

/** A request for branding that was taken. */
export interface TakenRequest {
  readonly operationId: number;
}

/** A request for branding in a list. */
export interface OperationSummary {
  readonly operationId: number;
  readonly kind: string;
  readonly owner: string;
  readonly handle: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly standing: OperationStanding;
  readonly failureCode: string | null;
  readonly hasLetter: boolean;
  readonly numbers: number | null;
}

/** A request for branding with what it came to. */
export interface Operation {
  readonly operationId: number;
  readonly kind: string;
  readonly owner: string;
  readonly key: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly state: 'queued' | 'done' | 'failed';
  readonly finishedAt: string | null;
  readonly failure: { readonly code: string; readonly reason: string } | null;
  readonly result: {
    readonly outcome: 'approved' | 'rejected' | 'in_review' | 'accepted';
    readonly brand: {
      readonly handle: string;
      readonly state: BrandState;
      readonly findings: readonly PublicFinding[];
    };
    readonly letter: {
      readonly letterId: number;
      readonly state: LetterState;
      readonly signedOn: string | null;
      readonly validUntil: string | null;
      readonly findings: readonly PublicFinding[];
    } | null;
    readonly numbers: {
      readonly given: number;
      readonly accepted: number;
      readonly known: number;
      readonly rejected: number;
      readonly states: Readonly<Record<string, number>>;
    } | null;
  } | null;
}

/** What became of one row of a request's numbers. */
export interface OperationRow {
  readonly line: number;
  readonly phone: string | null;
  readonly outcome: string;
  readonly reason: string;
}

/** Titles of the operations as the specification has them. */
export const operationTitles: Readonly<Record<string, string>> = {
  add_managed_brand: 'Add Managed Brand',
  update_managed_brand: 'Update Managed Brand',
  add_phone_number: 'Add Phone number for Branding',
};

/** States of brands, letters, numbers and requests, for filters. */
export const brandStates = [
  'draft',
  'submitted',
  'in_review',
  'approved',
  'rejected',
  'suspended',
  'expired',
  'withdrawn',
] as const;
export const letterStates = [
  'submitted',
  'in_review',
  'approved',
  'rejected',
  'expiring',
  'expired',
  'withdrawn',
] as const;
export const numberStates = [
  'submitted',
  'in_review',
  'verified',
  'unsuccessful',
  'permanently_rejected',
  'suspended',
  'expired',
  'removed',
] as const;
export const operationStandings = ['queued', 'approved', 'in_review', 'accepted', 'rejected', 'failed'] as const;

/** One of each. */
export type BrandState = (typeof brandStates)[number];
export type LetterState = (typeof letterStates)[number];
export type NumberState = (typeof numberStates)[number];
export type OperationStanding = (typeof operationStandings)[number];

/** Severities of findings from the worst to the best. */
export const severities = ['reject', 'review', 'note', 'pass'] as const;

export type Severity = (typeof severities)[number];
