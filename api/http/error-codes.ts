import type { ErrorCode } from '../../runtime/errors.ts';

/** The closed list of errors that the API answers with. docs/api.md is checked against it both ways. */
export const API_ERROR_CODES = [
  'country_required',
  'country_invalid',
  'parameter_unknown',
  'parameter_invalid',
  'phone_invalid',
  'request_invalid',
  'unauthenticated',
  'forbidden',
  'artefact_not_found',
  'trust_document_unknown',
  'phone_unknown',
  'brand_unknown',
  'letter_unknown',
  'verification_unknown',
  'batch_unknown',
  'model_unknown',
  'release_unknown',
  'cache_unknown',
  'route_unknown',
  'method_not_allowed',
  'request_timeout',
  'delta_gone',
  'precondition_failed',
  'range_not_satisfiable',
  'rate_limited',
  'header_too_large',
  'internal',
  'overloaded',
  'not_ready',
  'database_unavailable',
  'database_unsuitable',
] as const satisfies readonly ErrorCode[];

export type ApiErrorCode = (typeof API_ERROR_CODES)[number];
