import { ServiceError } from '../../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import { requireAnotherPerson, type EyesPolicy } from '../../access/two-pairs-of-eyes.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import type { NightBreach } from './night-gates.ts';
import type { NightScope } from './night-request.ts';

/** A held file that an operator releases, with the gates that held it. */
interface ReleasedFile extends ArtefactName {
  readonly gates: readonly NightBreach[];
}

/**
 * Releases held files: the next night publishes them if their gate figures exceed those of the held build by a fifth at most.
 * The held build itself is never published: its data is outdated.
 * @throws ServiceError `reason_required`, `night_not_held`, `decided_by_requester` for the person who submitted a load of these files
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
