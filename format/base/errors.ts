/** The closed list of the client's errors with their meanings. Those of the service that have no entry are `download_failed`. */
export const CLIENT_ERRORS = {
  // asking
  usage_invalid: 'A command or its options are not valid.',
  cache_unknown: 'No cache has this name.',
  country_required: 'The cache is split by country and none was given.',
  country_invalid: 'The country is not two letters of ISO 3166-1, or was given twice.',
  phone_invalid: 'The text is not a phone number that can be dialled.',
  parameter_unknown: 'The request carries a parameter that the resource does not have.',
  parameter_invalid: 'A parameter has a value that it cannot have, or was given twice.',
  // answers of the service
  unauthenticated: 'No valid key was given.',
  forbidden: 'The key lacks the scope.',
  route_unknown: 'No resource has this path.',
  artefact_not_found: 'This cache was never built.',
  delta_gone: 'There is no delta from the given version to the current one; take the whole file.',
  phone_unknown: 'Nothing is known of this number.',
  brand_unknown: 'No brand has this handle.',
  batch_unknown: 'No batch has this id.',
  verification_unknown: 'No verification has this id.',
  model_unknown: 'No model has this name.',
  model_removed: 'The model was removed; another one replaces it.',
  release_unknown: 'No release has this name.',
  trust_document_unknown: 'No signed document has this name, or the service does not sign.',
  // downloads
  download_failed: 'A file could not be downloaded: the server cannot be reached, refuses, or sends too little.',
  download_damaged: 'The downloaded file does not match its manifest.',
  segment_index_invalid: 'A segment index is not well formed, or is not that of the artefact.',
  delta_invalid: 'A delta is damaged, or does not fit the file that it was applied to.',
  filter_invalid: 'A filter is not well formed, or has a format that this client does not know.',
  rows_differ: 'Rows are not in the order of their keys, or are not those that were asked for.',
  directory_busy: 'Another process works in this directory.',
  // signatures
  trust_unsigned: 'The service serves nothing signed, though it did before or a root was given.',
  trust_invalid: 'Signed metadata is malformed, too long, or lacks the signatures that the root asks for.',
  trust_older: 'Signed metadata is older than what was trusted before.',
  trust_expired: 'Signed metadata has expired.',
  trust_mixed: 'A file is not the one that the signed metadata names.',
} as const satisfies Record<string, string>;

export type ClientErrorCode = keyof typeof CLIENT_ERRORS;

/** The detail of an error, besides its code. */
export interface ErrorDetail {
  /** The operation that failed, a verb and its object: "build artefact". */
  operation: string;
  /** The object of the operation: "phones/US", "feed load 7". Never a phone number with a name. */
  object?: string;
  /** What is wrong, in one sentence. Default: the meaning of the code. */
  problem?: string;
  /** What to do about it. */
  hint?: string;
  cause?: unknown;
}

/** An error of a closed list, with operation, object, problem and hint; `meaning` is the problem where none is given. */
export class CodedError<Code extends string> extends Error {
  readonly code: Code;
  readonly operation: string;
  readonly object: string | undefined;
  readonly problem: string;
  readonly hint: string | undefined;

  constructor(code: Code, detail: ErrorDetail, meaning: string) {
    const problem = detail.problem ?? meaning;
    const object = detail.object === undefined ? '' : ` ${detail.object}`;
    const hint = detail.hint === undefined ? '' : ` ${detail.hint}`;
    super(`${detail.operation}${object}: ${problem}${hint}`, { cause: detail.cause });
    this.code = code;
    this.operation = detail.operation;
    this.object = detail.object;
    this.problem = problem;
    this.hint = detail.hint;
  }
}

/** The error class of the client. */
export class ClientError extends CodedError<ClientErrorCode> {
  override readonly name: string = 'ClientError';

  constructor(code: ClientErrorCode, detail: ErrorDetail) {
    super(code, detail, CLIENT_ERRORS[code]);
  }
}

/** True if the value is an error of the client, of this code if one is given. */
export function isClientError(value: unknown, code?: ClientErrorCode): value is ClientError {
  return value instanceof ClientError && (code === undefined || value.code === code);
}

/** True for a code of the client's list. */
export function isClientErrorCode(value: unknown): value is ClientErrorCode {
  return typeof value === 'string' && Object.hasOwn(CLIENT_ERRORS, value);
}

/** The message of a thrown value. */
export function messageOf(value: unknown): string {
  if (value instanceof AggregateError && value.message === '') return value.errors.map(messageOf).join('; ');
  return value instanceof Error ? value.message : String(value);
}
