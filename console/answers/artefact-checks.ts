import {
  checkVersion,
  keptVersions,
  listVersions,
  type CheckedVersion,
  type ListedVersion,
} from '../../pipelines/caches/store/artefact-check.ts';
import { formatArtefact, type ArtefactName } from '../../pipelines/caches/definition.ts';
import { errorMessageOf, ServiceError } from '../../runtime/errors.ts';
import type { ConsoleWork } from '../http/console-work.ts';

/** Concurrent checks in this process: each reads files at full disk speed. */
const checksRunningMax = 1;

/** What is checked: every stored version of one artefact, or the published version of each artefact. */
type CheckScope = ArtefactName | 'current';

/** The verdict on one version. */
export interface Verdict {
  readonly artefact: string;
  readonly version: number;
  readonly verdict: CheckedVersion['verdict'];
  readonly detail: string;
  readonly rows: number;
  readonly bytes: number;
}

/** The state of a check of stored files. */
export interface ArtefactCheck {
  readonly state: 'running' | 'finished' | 'failed';
  /** What is checked: `phones/US`, or `current`. */
  readonly scope: string;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly versions: number;
  /** In the order of the checks. */
  readonly verdicts: readonly Verdict[];
  /** Why the check itself failed. */
  readonly problem: string | null;
}

/** Verifies stored files in the background, and keeps the latest result of each scope until the process ends. */
export class ArtefactChecks {
  readonly #work: Pick<ConsoleWork, 'db' | 'store' | 'config' | 'log' | 'signal'>;
  readonly #latest = new Map<string, ArtefactCheck>();
  #running = 0;

  constructor(work: Pick<ConsoleWork, 'db' | 'store' | 'config' | 'log' | 'signal'>) {
    this.#work = work;
  }

  /** The latest check of a scope, running or ended; null if there was none since the start of the process. */
  latest(scope: CheckScope): ArtefactCheck | null {
    return this.#latest.get(nameOf(scope)) ?? null;
  }

  /**
   * Starts a check and returns its state.
   * @throws ServiceError `overloaded` while {@link checksRunningMax} run, `artefact_not_found` if nothing of the scope was published
   */
  async start(scope: CheckScope): Promise<ArtefactCheck> {
    if (this.#running >= checksRunningMax)
      throw new ServiceError('overloaded', {
        operation: 'verify artefacts',
        problem: 'Another check is running.',
        hint: 'Wait until it has ended.',
      });
    this.#running++;
    try {
      const versions = await this.#versionsOf(scope);
      if (versions.length === 0)
        throw new ServiceError('artefact_not_found', {
          operation: 'verify artefacts',
          object: nameOf(scope),
          problem: 'Nothing was published yet.',
          hint: 'Run a night, which builds it.',
        });
      const check: ArtefactCheck = {
        state: 'running',
        scope: nameOf(scope),
        startedAt: new Date(),
        finishedAt: null,
        versions: versions.length,
        verdicts: [],
        problem: null,
      };
      this.#latest.set(check.scope, check);
      void this.#run(check, versions).finally(() => this.#running--);
      return check;
    } catch (error) {
      this.#running--;
      throw error;
    }
  }

  async #versionsOf(scope: CheckScope): Promise<ListedVersion[]> {
    const { db, config } = this.#work;
    const kept = keptVersions(await listVersions(db), config.versionsKept);
    if (scope === 'current') return kept.filter(({ current }) => current);
    return kept.filter(({ cache, country }) => cache === scope.cache && country === scope.country);
  }

  async #run(begun: ArtefactCheck, versions: readonly ListedVersion[]): Promise<void> {
    const { store, log, signal } = this.#work;
    let check = begun;
    const update = (changes: Partial<ArtefactCheck>) =>
      this.#latest.set(check.scope, (check = { ...check, ...changes }));
    try {
      for (const version of versions) {
        signal.throwIfAborted();
        update({ verdicts: [...check.verdicts, verdictOf(await checkVersion(store, version))] });
      }
      update({ state: 'finished', finishedAt: new Date() });
      const bad = check.verdicts.filter(({ verdict }) => verdict !== 'ok');
      if (bad.length > 0) log.error({ scope: check.scope, bad }, 'stored artefacts are not what was published');
    } catch (error) {
      update({ state: 'failed', finishedAt: new Date(), problem: errorMessageOf(error) });
      if (!signal.aborted) log.error({ err: error, scope: check.scope }, 'a check of artefacts broke off');
    }
  }
}

function nameOf(scope: CheckScope): string {
  return scope === 'current' ? scope : formatArtefact(scope);
}

function verdictOf({ verdict, detail, version, rows, file, ...artefact }: CheckedVersion): Verdict {
  return { artefact: formatArtefact(artefact), version, verdict, detail, rows, bytes: file.bytes };
}
