/** The closed list of reasons to refuse a feed row. docs/feeds.md is checked against it. */
export const REJECTS = {
  // the line
  line_empty: 'The line is empty.',
  line_too_long: 'The line is longer than the limit.',
  utf8_invalid: 'The line is not valid UTF-8; a file in Windows-1252 is loaded with --encoding windows-1252.',
  nul_byte: 'The line holds a NUL byte.',
  quote_unterminated: 'A quoted field is not closed within the limit for one row.',
  quote_invalid: 'A quote is followed by something other than the end of its field.',
  field_count: 'The row has another number of fields than the header.',
  // the number
  phone_missing: 'The row has no phone number.',
  phone_invalid: 'The text is not a phone number.',
  // reputation
  level_missing: 'The row has no reputation level.',
  level_invalid: 'The level is not NEUTRAL, SPAM or FRAUD.',
  category_unknown: 'No category has this id or name.',
  category_unfit: 'The category does not belong to the level.',
  // display info
  name_missing: 'The row has no display name.',
  text_too_long: 'A text is longer than its column allows.',
  image_invalid: 'The image is not an https URL.',
  // complaints
  date_missing: 'The row has no creation date.',
  date_invalid: 'A date is not in a form that is read, or not in the calendar.',
  date_in_future: 'A date lies after the submission of the feed.',
  recorded_invalid: 'The field for recorded messages is not Y, N or empty.',
} as const;

export type RejectCode = keyof typeof REJECTS;

/** Why a row is refused. The reason contains no data of the row. */
export interface Refusal {
  readonly code: RejectCode;
  readonly reason: string;
}

/** A refusal with the reason of its code, or a more specific one. */
export function refuse(code: RejectCode, reason: string = REJECTS[code]): Refusal {
  return { code, reason };
}
