/** The closed list of events that are announced, with their meaning. docs/webhooks.md is checked against it both ways. */
export const WEBHOOK_EVENTS = {
  'batch.done': 'Every recording of a batch has an outcome.',
  'batch.cancelled': 'A batch was cancelled.',
  'letter.in_review': 'A letter waits for a person.',
  'letter.approved': 'A letter was approved.',
  'letter.rejected': 'A letter was rejected.',
  'letter.expiring': 'The validity of a letter ends within 30 days.',
  'letter.expired': 'The validity of a letter is over.',
  'letter.withdrawn': 'A letter was withdrawn.',
  'brand.draft': 'A brand was added.',
  'brand.in_review': 'A brand waits for a person.',
  'brand.approved': 'A brand was approved, or is again.',
  'brand.rejected': 'A brand was rejected.',
  'brand.suspended': 'A brand was suspended.',
  'brand.expired': 'A brand has no letter in force any more.',
  'brand.withdrawn': 'A brand was withdrawn.',
  'revision.pending': 'A change of an approved brand waits for a decision; what was approved stays published.',
  'revision.approved': 'A change of an approved brand was approved.',
  'revision.rejected': 'A change of an approved brand was rejected.',
  'number.submitted': 'Numbers were submitted for branding.',
  'number.in_review': 'Numbers wait for a person.',
  'number.verified': 'Numbers were verified.',
  'number.unsuccessful': 'Numbers were not verified; they can be submitted again.',
  'number.permanently_rejected': 'Numbers were rejected for ever.',
  'number.suspended': 'Numbers were suspended.',
  'number.expired': 'Numbers are covered by no letter in force any more.',
  'number.removed': 'Numbers were removed.',
  'dispute.open': 'The label of a number is disputed.',
  'dispute.cleared': 'A dispute was decided: the number is cleared.',
  'dispute.upheld': 'A dispute was decided: the label stays.',
  'load.held': 'A feed is held by its gates until an operator releases or discards it.',
  'load.released': 'A held feed was released, and is loaded.',
  'load.discarded': 'A held feed was discarded.',
  'night.published': 'A night has ended, and every file is published or unchanged.',
  'night.held': 'A night has ended with files that an operator must release.',
  'night.failed': 'A night has failed, or has ended with files that failed.',
  'webhook.test': 'An operator tries an endpoint.',
} as const satisfies Record<string, string>;

const eventTypes = Object.keys(WEBHOOK_EVENTS);

/** Groups of types, such as `letter.*`. */
const eventGroups = [...new Set(eventTypes.map((type) => `${type.split('.')[0]}.*`))];

/** True for a type of events, or a group of types such as `letter.*`. Tests need not be asked for. */
export function isEventFilter(text: string): boolean {
  return (eventTypes.includes(text) || eventGroups.includes(text)) && !text.startsWith('webhook.');
}
