import type { ListedArtefact } from '../../answers/artefact-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ArtefactCheckSection } from './artefact-check.ts';
import { nameOf, pathOf } from './artefact-name.ts';
import { Empty, Page, Read, State, Table, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { Link } from '../shell/router.ts';
import { formatBytes, formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** The published artefacts. */
export default function ArtefactsPage(): VNode {
  const reading = useReading<{ artefacts: ListedArtefact[] }>('/api/artefacts');
  return html`<${Page} title="Artefacts" lead="The published file of each cache and country. A stale one is that of an earlier night, because its build failed.">
    <${Read} reading=${reading} what="the artefacts" show=${({ artefacts }: { artefacts: Json<ListedArtefact>[] }) => (artefacts.length === 0 ? html`<${Empty} title="Nothing is published yet.">A night builds the files: see <${Link} href="/nights">Nights</${Link}>.</${Empty}>` : html`<${List} artefacts=${artefacts} />`)} />
    <${ArtefactCheckSection} path="/api/artefacts/check" lead="Reads every file that readers are given, with its index and deltas, and compares it with its manifest. It goes on when this page is left." />
  </${Page}>`;
}

function List({ artefacts }: { artefacts: readonly Json<ListedArtefact>[] }): VNode {
  return html`<${Table} caption="Artefacts" rows=${artefacts} keyOf=${pathOf} columns=${[
    {
      title: 'Artefact',
      show: (artefact: Json<ListedArtefact>) =>
        html`<${Link} href=${`/artefacts/${pathOf(artefact)}`}>${nameOf(artefact)}</${Link}>`,
    },
    {
      title: 'Status',
      show: ({ status, version, stale }: Json<ListedArtefact>) =>
        html`<${State} name=${version === null ? 'unpublished' : status} />${stale === null ? null : html` <code class="night-code">${stale.code}</code>`}`,
    },
    { title: 'Version', isNumber: true, show: ({ version }: Json<ListedArtefact>) => version ?? '–' },
    { title: 'Rows', isNumber: true, show: ({ rows }: Json<ListedArtefact>) => formatCount(rows) },
    { title: 'Bytes', isNumber: true, show: ({ bytes }: Json<ListedArtefact>) => formatBytes(bytes) },
    { title: 'Deltas', isNumber: true, show: ({ deltas }: Json<ListedArtefact>) => deltas },
    {
      title: 'Confirmed as of',
      show: ({ confirmedAsOf }: Json<ListedArtefact>) => html`<${When} at=${confirmedAsOf} />`,
    },
    { title: 'Published', show: ({ publishedAt }: Json<ListedArtefact>) => html`<${When} at=${publishedAt} />` },
  ]} />`;
}
