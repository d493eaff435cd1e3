import type { ListedArtefact, ListedArtefactPage } from '../../answers/artefact-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ArtefactCheckSection } from './artefact-check.ts';
import { nameOf, pathOf } from './artefact-name.ts';
import { Empty, Page, Read, State, Table, type Columns, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { Link } from '../shell/router.ts';
import { formatBytes, formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** The published artefacts. */
export default function ArtefactsPage(): VNode {
  const reading = useReading<ListedArtefactPage>('/api/artefacts');
  return html`<${Page} title="Artefacts" lead="The published file of each cache and country. A stale file is from an earlier night, because its build failed.">
    <${Read} reading=${reading} what="the artefacts" show=${({
      artefacts,
    }: Json<ListedArtefactPage>) => html`<${Table} caption="Artefacts" rows=${artefacts} keyOf=${pathOf} columns=${columns}
      empty=${html`<${Empty} title="Nothing is published yet.">A night builds the files: see <${Link} href="/nights">Nights</${Link}>.</${Empty}>`} />`} />
    <${ArtefactCheckSection} path="/api/artefacts/check" lead="Reads every file that readers are given, with its index and deltas, and compares it with its manifest. It continues when you leave this page." />
  </${Page}>`;
}

const columns: Columns<Json<ListedArtefact>> = [
  ['Artefact', (artefact) => html`<${Link} href=${`/artefacts/${pathOf(artefact)}`}>${nameOf(artefact)}</${Link}>`],
  [
    'Status',
    ({ status, version, stale }) =>
      html`<${State} name=${version === null ? 'unpublished' : status} />${stale === null ? null : html` <code class="night-code">${stale.code}</code>`}`,
  ],
  ['Version', ({ version }) => version ?? '–', 'number'],
  ['Rows', ({ rows }) => formatCount(rows), 'number'],
  ['Bytes', ({ bytes }) => formatBytes(bytes), 'number'],
  ['Deltas', ({ deltas }) => deltas, 'number'],
  ['Confirmed as of', ({ confirmedAsOf }) => html`<${When} at=${confirmedAsOf} />`],
  ['Published', ({ publishedAt }) => html`<${When} at=${publishedAt} />`],
];
