import { ServiceError } from '../../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import { requireAnotherPerson, type EyesPolicy } from '../../access/two-pairs-of-eyes.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import type { NightBreach } from './night-gates.ts';
import type { NightScope } from './night-request.ts';

/** A held file that an operator lets through, with the gates that held it. */
export interface ReleasedFile extends ArtefactName {
  readonly gates: readonly NightBreach[];
}

/**
 * Lets held files through: the next night publishes them if it differs from what is published by no more than the build that
 * was held (and a fifth). The held build itself is never published: it is older than what the database says by then.
 * @throws ServiceError `reason_required`, `night_not_held`, `decided_by_requester` for who handed in a load that they are made from
 */
export async function releaseHeldFiles(
  db: Queryable,
  { scope, reason: reasonText, actor, eyes }: { scope: NightScope; reason: string; actor: string; eyes: EyesPolicy },
): Promise<ReleasedFile[]> {
  const reason = cleanText(reasonText);
  if (reason === null) throw new ServiceError('reason_required', { operation: 'release night', hint: 'Say why.' });
  await requireAnotherPerson(db, { eyes, actor, of: { kind: 'files', cache: scope.cache, country: scope.country } });
  const released = await queryRows<ReleasedFile>(db, sql('nights/release_held_builds'), [
    scope.cache,
    scope.country,
    reason,
    cleanText(actor) ?? 'unknown',
  ]);
  if (released.length > 0) return released.map(({ cache, country, gates }) => ({ cache, country, gates }));
  const object =
    scope.cache === null ? undefined : formatArtefact({ cache: scope.cache, country: scope.country ?? '' });
  throw new ServiceError('night_not_held', { operation: 'release night', ...(object === undefined ? {} : { object }) });
}
