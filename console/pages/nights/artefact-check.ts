import type { ArtefactCheck, Verdict } from '../../answers/artefact-checks.ts';
import type { Json } from '../../answers/json.ts';
import { ActionButton, Notice, ProblemNotice, Section, Table, type Columns, When } from '../shell/components.ts';
import { useLive } from '../shell/reading.ts';
import { mayDo, sendJson } from '../shell/request.ts';
import { formatBytes, formatCount } from '../shell/text.ts';
import { html, type Shown, type VNode } from '../shell/view.ts';

/** Compares stored files with what was published. `path`: the API path of the check. */
export function ArtefactCheckSection({ path, lead }: { path: string; lead: string }): VNode {
  const live = useLive<{ check: ArtefactCheck | null }>(`${path}/live`);
  const check = live.value?.check ?? null;
  const start = async () => {
    await sendJson('POST', path);
    live.readAgain();
  };
  const button = html`<${ActionButton} disabled=${check?.state === 'running'} busyText="Starting …" act=${start}>Verify</${ActionButton}>`;
  return html`<${Section} title="Verification" actions=${mayDo('operator') ? button : null}>
    <p>${lead}</p>
    ${live.problem === undefined ? null : html`<${ProblemNotice} problem=${live.problem} />`}
    <div class="artefact-check" aria-live="polite">${check === null ? html`<p class="hint">Nothing was verified since the console was started.</p>` : html`<${Result} check=${check} />`}</div>
  </${Section}>`;
}

const columns: Columns<Json<Verdict>> = [
  ['Artefact', ({ artefact }) => artefact],
  ['Version', ({ version }) => version, 'number'],
  ['Verdict', ({ verdict }) => html`<span class="state bad">${verdict}</span>`],
  ['Detail', ({ detail }) => detail],
];

function Result({ check }: { check: Json<ArtefactCheck> }): VNode {
  const { state, verdicts, versions, startedAt, finishedAt, problem } = check;
  const bad = verdicts.filter(({ verdict }) => verdict !== 'ok');
  return html`
    ${state === 'running' ? html`<p class="night-progress"><progress aria-label="Versions verified" max=${versions} value=${verdicts.length}></progress> <span>${verdicts.length} of ${versions} versions, since <${When} at=${startedAt} /></span></p>` : null}
    ${state === 'failed' ? html`<${Notice} kind="bad"><p><strong>The check broke off after ${verdicts.length} of ${versions} versions.</strong> ${problem ?? ''}</p></${Notice}>` : null}
    ${state === 'finished' ? html`<${Notice} kind=${bad.length === 0 ? 'good' : 'bad'}>${summary(check, bad)} <span class="hint">Ended <${When} at=${finishedAt} /></span></${Notice}>` : null}
    ${
      bad.length === 0
        ? null
        : html`<${Table} caption="Versions that are not as published" rows=${bad} keyOf=${({ artefact, version }: Json<Verdict>) => `${artefact} ${version}`} columns=${columns} />`
    }`;
}

function summary({ verdicts, versions }: Json<ArtefactCheck>, bad: readonly Json<Verdict>[]): Shown {
  const bytes = verdicts.reduce((sum, each) => sum + each.bytes, 0);
  if (bad.length === 0)
    return html`<p><strong>${versions === 1 ? 'The version is' : `All ${formatCount(versions)} versions are`} as published.</strong> ${formatBytes(bytes)} were read.</p>`;
  return html`<p><strong>${formatCount(bad.length)} of ${formatCount(versions)} versions are not as published.</strong> Run a night with all rows read: it writes a missing or damaged current file again. Old versions stay damaged; clients that need them take the whole current file.</p>`;
}
