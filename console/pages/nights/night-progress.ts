import type { Json } from '../../answers/json.ts';
import type { NightSummary } from '../../answers/night-answers.ts';
import { Link } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** The progress of an open night in a line. */
export function NightProgress({
  night,
  href,
}: {
  night: Pick<Json<NightSummary>, 'runId' | 'date' | 'state' | 'files' | 'filesEnded' | 'rows' | 'rowsExpected'>;
  href?: string;
}): VNode {
  const { runId, date, state, files, filesEnded, rows, rowsExpected } = night;
  const name = `Night ${date}, run ${runId}`;
  const counted = files > 0;
  return html`<span class="night-progress">
    <span>${href === undefined ? name : html`<${Link} href=${href}>${name}</${Link}>`}</span>
    <progress aria-label=${name} max="1" value=${counted ? (rowsExpected === 0 ? filesEnded / files : Math.min(1, rows / rowsExpected)) : 0}></progress>
    <span class="night-progress-words">${counted ? `${filesEnded} of ${files} files, ${formatCount(rows)} of ${formatCount(rowsExpected)} rows` : state === 'due' ? 'waiting for a worker' : 'opening'}</span>
  </span>`;
}
