import type { Json } from '../../answers/json.ts';
import type { ShownPage } from '../../answers/letter-answers.ts';
import { Notice } from '../shell/components.ts';
import { spread, turnedPicture, type Mark } from './letter-marks.ts';
import { html, useEffect, useLayoutEffect, useRef, useState, type VNode } from '../shell/view.ts';

const zooms = [75, 100, 125, 150, 200, 300];
const fitZoom = 100;

/** Minimum distance of the buttons of marks, in CSS pixels: WCAG 2.2 requires targets of at least 24. */
const markGapPx = 27;

/** The highlighted mark, and whether it was chosen on the page or in the list next to it. */
export interface ActiveMark {
  readonly id: string;
  readonly from: 'page' | 'list';
}

/** What the viewer shows. */
interface LetterViewerProps {
  readonly letterId: number;
  readonly pages: readonly Json<ShownPage>[];
  readonly marks: readonly Mark[];
  readonly active: ActiveMark | null;
  readonly onActivate: (id: string) => void;
}

/** The pages of a letter as pictures, with marks. */
export function LetterViewer({ letterId, pages, marks, active, onActivate }: LetterViewerProps): VNode {
  const [zoom, setZoom] = useState(fitZoom);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (active?.from === 'list') scrollTo(box.current!, active.id);
  }, [active]);
  const step = (by: number) => setZoom(zooms[Math.min(zooms.length - 1, Math.max(0, zooms.indexOf(zoom) + by))]!);
  return html`<div class="letter-viewer">
    <div class="viewer-bar">
      <button type="button" onClick=${() => step(-1)} disabled=${zoom === zooms[0]}>Smaller</button>
      <button type="button" onClick=${() => step(1)} disabled=${zoom === zooms.at(-1)}>Larger</button>
      <button type="button" onClick=${() => setZoom(fitZoom)} disabled=${zoom === fitZoom}>Fit</button>
      <span role="status">${zoom} %</span>
    </div>
    <div class="viewer-box" ref=${box} role="region" aria-label="Pages of the letter" tabindex="0">
      ${pages.map((page) => html`<${Sheet} key=${page.page} letterId=${letterId} page=${page} of=${pages.length} zoom=${zoom} marks=${marks.filter((mark) => mark.page === page.page)} active=${active} onActivate=${onActivate} />`)}
    </div>
  </div>`;
}

/** Scrolls a mark to the middle of the box without scrolling the window, where the focus may be elsewhere. */
function scrollTo(box: HTMLElement, id: string): void {
  const mark = box.querySelector(`[data-mark="${id}"]`);
  if (mark === null) return;
  const [there, here] = [mark.getBoundingClientRect(), box.getBoundingClientRect()];
  box.scrollTo({
    top: box.scrollTop + there.top - here.top - (box.clientHeight - there.height) / 2,
    left: box.scrollLeft + there.left - here.left - 60,
    behavior: 'smooth',
  });
}

interface SheetProps extends Pick<LetterViewerProps, 'letterId' | 'marks' | 'active' | 'onActivate'> {
  readonly page: Json<ShownPage>;
  readonly of: number;
  readonly zoom: number;
}

function Sheet({
  letterId,
  page: { page, width, height, turned },
  of,
  zoom,
  marks,
  active,
  onActivate,
}: SheetProps): VNode {
  const picture = useRef<HTMLDivElement>(null);
  const [heightPx, setHeightPx] = useState(0);
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading');
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setHeightPx(entry!.contentRect.height));
    observer.observe(picture.current!);
    return () => observer.disconnect();
  }, []);
  const tops = spread(
    marks.map(({ box }) => box.top * heightPx),
    { gap: markGapPx, height: heightPx },
  );
  return html`<figure class="sheet" style=${{ width: `${zoom}%` }}>
    <figcaption>Page ${page} of ${of}</figcaption>
    <div class="sheet-row">
      <div class="sheet-marks">${marks.map((mark, at) => html`<button key=${mark.id} type="button" class=${`mark-number ${mark.severity} ${active?.id === mark.id ? 'active' : ''}`} style=${{ top: `${tops[at]}px` }} aria-pressed=${active?.id === mark.id ? 'true' : 'false'} aria-label=${`Mark ${mark.number}: ${mark.words}`} onFocus=${() => onActivate(mark.id)} onClick=${() => onActivate(mark.id)}>${mark.number}</button>`)}</div>
      <div class="sheet-picture" ref=${picture} style=${{ aspectRatio: `${width} / ${height}` }}>
        ${state === 'loading' ? html`<p class="sheet-state">Drawing page ${page} …</p>` : null}
        ${state === 'failed' ? html`<div class="sheet-state"><${Notice} kind="bad"><p>The page cannot be shown. Load this page again, or save the file as it came.</p></${Notice}></div>` : html`<img src=${`/api/review/letters/${letterId}/pages/${page}`} style=${turnedPicture({ width, height, turned })} alt=${`Page ${page} as it looks; the text that was read is below the pages.`} loading="lazy" onLoad=${() => setState('shown')} onError=${() => setState('failed')} />`}
        ${marks.map((mark) => html`<span key=${mark.id} data-mark=${mark.id} class=${`letter-mark ${mark.severity} ${active?.id === mark.id ? 'active' : ''}`} style=${rectangle(mark.box)} aria-hidden="true" onClick=${() => onActivate(mark.id)}></span>`)}
      </div>
    </div>
  </figure>`;
}

function rectangle({ left, top, width, height }: Mark['box']): Record<string, string> {
  const percent = (share: number) => `${(share * 100).toFixed(3)}%`;
  return { left: percent(left), top: percent(top), width: percent(width), height: percent(height) };
}
