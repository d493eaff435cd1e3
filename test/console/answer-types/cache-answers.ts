import type { ArtefactCheck } from '../../../console/answers/artefact-checks.ts';
import type { listArtefacts, listArtefactVersions, readArtefact } from '../../../console/answers/artefact-answers.ts';
import type { readHistory, readWholeNight } from '../../../console/answers/night-answers.ts';
import type * as artefacts from '../../../console/pages/nights/artefact-types.ts';
import type * as nights from '../../../console/pages/nights/night-types.ts';
import type { requestNightOnce } from '../../../pipelines/caches/night/night-request.ts';
import type { Config } from '../../../runtime/config.ts';
import type { Fits, Json, Told } from './json.ts';

/** What the pages of nights and artefacts read, against what they are answered. */
export interface CacheAnswersFit {
  readonly artefacts: Fits<artefacts.ListedArtefact[], Told<typeof listArtefacts>>;
  readonly artefact: Fits<artefacts.ToldArtefact, Told<typeof readArtefact>>;
  readonly versions: Fits<
    { versions: artefacts.ToldVersion[]; next: string | null },
    Told<typeof listArtefactVersions>
  >;
  readonly check: Fits<artefacts.ArtefactCheckFacts, Json<ArtefactCheck>>;
  readonly history: Fits<nights.NightHistory, Told<typeof readHistory>>;
  readonly night: Fits<nights.ToldNight, Told<typeof readWholeNight>>;
  readonly settings: Fits<nights.NightSettings, Json<Pick<Config, 'shrinkPercentMax'>>>;
  readonly released: Fits<nights.ReleasedFiles, Json<{ released: string[] }>>;
  readonly asked: Fits<nights.AskedNight, Told<typeof requestNightOnce>>;
}
