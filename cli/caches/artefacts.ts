import type { Command } from 'commander';
import {
  checkVersion,
  collectGarbage,
  keptVersions,
  listVersions,
  withdrawDamaged,
  type CheckedVersion,
} from '../../pipelines/caches/store/artefact-check.ts';
import { openArtefactStore, storeLimitsOfWaiting } from '../../pipelines/caches/store/open-artefact-store.ts';
import { formatArtefact } from '../../pipelines/caches/definition.ts';
import { makeManifest } from '../../pipelines/caches/manifest.ts';
import { listPublications } from '../../pipelines/caches/publications.ts';
import { sweepUnfinishedFiles } from '../../pipelines/caches/artefact/night-build.ts';
import { interruption, runWith, type Outcome } from '../command.ts';
import { startProgress } from '../progress.ts';
import { formatCount, formatTable, formatTime } from '../table.ts';
import type { Services } from '../../runtime/services/services.ts';

const storeOptions = { ...storeLimitsOfWaiting, signal: interruption.signal };

/** `artefacts list|verify|gc`. */
export function addArtefactCommands(artefacts: Command): void {
  artefacts.command('list').description('list the published version of each artefact').action(runWith(list));
  artefacts
    .command('verify')
    .description('read every kept file again, compare it with its manifest, and remove damaged ones from the store')
    .option('--current', 'only the versions that readers are given')
    .option('--dry-run', 'remove nothing')
    .action(runWith(verify));
  artefacts
    .command('gc')
    .description('remove the files of old versions, and abandoned unfinished files')
    .option('--dry-run', 'only say what would be removed')
    .action(runWith(gc));
}

async function list({ db, config }: Services): Promise<Outcome> {
  const store = openArtefactStore(config, storeOptions);
  const published = (await listPublications(db)).flatMap(({ published: version, ...rest }) =>
    version === null ? [] : [{ ...rest, published: version }],
  );
  const text = formatTable(published, [
    { title: 'artefact', value: formatArtefact },
    { title: 'version', value: ({ published: { version } }) => version },
    { title: 'status', value: ({ status, stale }) => (stale === null ? status : `${status}: ${stale.code}`) },
    { title: 'rows', value: ({ published: { rows } }) => rows },
    { title: 'bytes', value: ({ published: { file } }) => file.bytes },
    { title: 'confirmed as of', value: ({ confirmedAsOf }) => formatTime(confirmedAsOf) },
    {
      title: 'file',
      value: ({ cache, country, published: { file } }) => store.path({ cache, country, sha256: file.sha256 }),
    },
  ]);
  return {
    json: published.map((publication) => makeManifest(publication)),
    text: published.length === 0 ? 'Nothing is published yet.' : text,
  };
}

async function verify(
  { db, config }: Services,
  { current: currentOnly = false, dryRun = false }: { current?: boolean; dryRun?: boolean },
): Promise<Outcome> {
  const store = openArtefactStore(config, storeOptions);
  const versions = keptVersions(await listVersions(db), config.versionsKept).filter(
    ({ current }) => current || !currentOnly,
  );
  const progress = startProgress();
  const checked: CheckedVersion[] = [];
  for (const version of versions) {
    interruption.signal.throwIfAborted();
    progress.show(`checking ${formatArtefact(version)} version ${version.version}`);
    checked.push(await checkVersion(store, version));
  }
  progress.end();
  const bad = checked.filter(({ verdict }) => verdict !== 'ok');
  const damaged = checked.flatMap((version) => version.damaged);
  const withdrawn = dryRun ? [] : await withdrawDamaged({ db, store, damaged });
  const table = formatTable(bad.length > 0 ? bad : checked, [
    { title: 'artefact', value: formatArtefact },
    { title: 'version', value: ({ version }) => version },
    { title: 'verdict', value: ({ verdict }) => verdict },
    { title: 'rows', value: ({ rows }) => rows },
    { title: 'bytes', value: ({ file }) => file.bytes },
    { title: 'detail', value: ({ detail }) => detail },
  ]);
  const removed =
    withdrawn.length === 0
      ? ''
      : ` Damaged files removed from the store: ${withdrawn.length}. Run a night, which makes them again.`;
  return {
    json: checked,
    text: `${table}\n\n${checked.length - bad.length} good, ${bad.length} bad.${removed}`,
    failed: bad.length > 0,
  };
}

async function gc({ db, config }: Services, { dryRun = false }: { dryRun?: boolean }): Promise<Outcome> {
  const store = openArtefactStore(config, storeOptions);
  const { files, bytes } = await collectGarbage({ db, store, versionsKept: config.versionsKept, dryRun });
  const unfinished = dryRun ? [] : await sweepUnfinishedFiles(db, store);
  const text = `${files.length} files of ${formatCount(bytes)} bytes ${dryRun ? 'would be' : 'were'} removed${dryRun ? '' : `, and ${unfinished.length} unfinished ones`}.`;
  return { json: { files, bytes, unfinished, dryRun }, text };
}
