/** Why a letter is refused unread. Closed list: the code of the finding, and its meaning. */
export const LETTER_REFUSALS = {
  letter_empty: 'The file is empty.',
  letter_type_refused: 'The file is neither a PDF nor a PNG; its first bytes decide, not its name.',
  letter_polyglot: 'The file is a PDF or PNG and something else at once.',
  letter_too_large: 'The file is larger than the limit.',
  letter_too_many_pages: 'The letter has more pages than the limit.',
  letter_page_too_large: 'A page or the image is larger than the limit.',
  letter_encrypted: 'The PDF is encrypted or asks for a password.',
  letter_active_content:
    'The PDF holds a script, or an action that starts a program, sends a form or opens another file.',
  letter_embedded_file: 'The PDF embeds a file that is not a CSV of numbers, or more than one file.',
  letter_damaged: 'The file is damaged: its structure cannot be read.',
  letter_altered: 'Bytes that a PDF signature covers were changed after it was signed.',
  letter_limit_exceeded: 'Reading the file took more time, memory or output than a letter needs.',
} as const satisfies Record<string, string>;

export type LetterRefusalCode = keyof typeof LETTER_REFUSALS;

/** A rectangle on a page as fractions of its width and height, from the top left corner. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** A word of the drawn page. */
export interface LetterWord {
  readonly text: string;
  readonly box: Box;
  /** Confidence of recognition, 0 to 100. */
  readonly confidence: number;
}

/** A line of the drawn page; the lines of a page are in reading order. */
export interface LetterLine extends LetterWord {
  /** Its words; `text` has them with one space between two. */
  readonly words: readonly LetterWord[];
}

/** One page as a person sees it: drawn, and recognised from the drawing. */
export interface LetterPage {
  /** From 1. */
  readonly page: number;
  /** Points (1/72 inch) for a PDF, pixels for a PNG. */
  readonly width: number;
  readonly height: number;
  /**
   * Quarter turns in degrees by which the drawing was turned clockwise before it was recognised; places, width and height are those
   * of the turned page.
   */
  readonly turned: number;
  readonly lines: readonly LetterLine[];
  /** Dark regions that are no printed words: handwriting, a stamp, a logo. */
  readonly ink: readonly Box[];
}

/** Whether a chain of valid certificates leads to a configured root; `unchecked`: no roots are configured. */
type ChainVerdict = 'trusted' | 'untrusted' | 'unchecked';

/** Whether a certificate of a chain was revoked; `unknown`: nothing that is at hand says so of each of them. */
export type RevocationStatus = 'good' | 'revoked' | 'unknown';

/** A time stamp (RFC 3161) that verifies. The finding on the signature shows it to the reviewer. */
export interface PdfTimeStamp {
  /** ISO 8601. */
  readonly time: string;
  /** Name of the certificate of the time-stamping authority. */
  readonly authority: string | null;
  readonly chain: ChainVerdict;
}

/** A digital signature in a PDF (ISO 32000-1 section 12.8), verified. Document time stamps are not among them. */
export interface PdfSignature {
  /** Name of the signature field. */
  readonly field: string;
  /** Page of its visible widget, and the rectangle there; null for one that shows nothing. */
  readonly page: number | null;
  readonly box: Box | null;
  readonly subFilter: string;
  /** Of the signing certificate; the last is the organization's identifier as in ETSI EN 319 412-1 section 5.1.4. */
  readonly signerName: string | null;
  readonly signerOrganization: string | null;
  readonly signerCountry: string | null;
  readonly signerOrganizationId: string | null;
  /** ISO 8601: the time that the signer claims, but not after that of a time stamp; null where neither says one. */
  readonly signedAt: string | null;
  /** The earliest time stamp of the signature, its own or one of the document; null if the time is only the signer's claim. */
  readonly timeStamp: PdfTimeStamp | null;
  /** The digest of the covered bytes is the signed one. */
  readonly digestMatches: boolean;
  /** The signature fits the certificate's key. */
  readonly signatureValid: boolean;
  /**
   * What the file has besides the bytes that it covers. `whole`: only the signature itself. `extended`: later
   * revisions of validation data, time stamps, further signatures or locked fields. `changed`: a later revision of
   * something else. `partial`: it leaves out bytes of its own revision.
   */
  readonly coverage: 'whole' | 'extended' | 'changed' | 'partial';
  /** Judged at the time of a trusted time stamp; without one at the claimed time and at the time of reading. */
  readonly chain: ChainVerdict;
  /** Of a trusted chain: what lists and answers of its authorities say, at the latest of those times. */
  readonly revocation: RevocationStatus;
  /** Why it could not be verified, if so. */
  readonly problem: string | null;
}

/** One revision of a PDF (ISO 32000-1 section 7.5.6): the first part of the file, or an incremental update. */
export interface PdfRevision {
  /** Offset of the byte after it, counted from the beginning of the file. */
  readonly end: number;
  /** SHA-256 of the bytes from 0 to `end`, hexadecimal. */
  readonly sha256: string;
  /** `validation`: validation data, or fields that were locked. `other`: anything that may change what a reader sees. */
  readonly kind: 'original' | 'signature' | 'validation' | 'time_stamp' | 'other';
  /** Of kind `other`: what was changed, in words ("page 1: content"). */
  readonly changes: readonly string[];
}

/** The content of one letter. */
export interface LetterReading {
  readonly format: 'pdf' | 'png';
  readonly pages: readonly LetterPage[];
  readonly signatures: readonly PdfSignature[];
  /** In the order in which they were written; none for a PNG. */
  readonly revisions: readonly PdfRevision[];
  /** The one CSV that a PDF may embed, as text. */
  readonly embeddedCsv: { readonly name: string; readonly text: string } | null;
}

/** The outcome of reading a letter. */
export type LetterReadingOutcome =
  | { readonly kind: 'read'; readonly reading: LetterReading }
  | { readonly kind: 'refused'; readonly code: LetterRefusalCode; readonly problem: string };

/** A place in a letter: page and line from 1 (line 0: not in a line), and the rectangle around its words. */
export interface LetterPlace {
  readonly page: number;
  readonly line: number;
  readonly box: Box | null;
}
