import { Field, Name } from '../shell/components.ts';
import { Recorder } from './recorder.ts';
import { formatBytes } from '../shell/text.ts';
import { html, useEffect, useRef, useState, type VNode } from '../shell/view.ts';

/** A recording that was chosen or made, before it is sent. */
export interface ChosenRecording {
  readonly key: number;
  readonly file: File;
  /** For the browser to play. */
  readonly url: string;
}

let keys = 0;

/** The recordings of a form, with what changes them. */
export interface Recordings {
  readonly chosen: readonly ChosenRecording[];
  readonly add: (files: readonly File[]) => void;
  readonly remove: (key: number) => void;
  readonly clear: () => void;
}

/** Keeps at most so many recordings of a form; with one, another takes its place. */
export function useRecordings(most: number): Recordings {
  const [chosen, setChosen] = useState<readonly ChosenRecording[]>([]);
  const kept = useRef<readonly ChosenRecording[]>([]);
  const keep = (next: readonly ChosenRecording[]) => {
    for (const { url, key } of kept.current) if (!next.some((each) => each.key === key)) URL.revokeObjectURL(url);
    kept.current = next;
    setChosen(next);
  };
  useEffect(() => () => kept.current.forEach(({ url }) => URL.revokeObjectURL(url)), []);
  return {
    chosen,
    add: (files) =>
      keep(
        [...kept.current, ...files.map((file) => ({ key: ++keys, file, url: URL.createObjectURL(file) }))].slice(-most),
      ),
    remove: (key) => keep(kept.current.filter((each) => each.key !== key)),
    clear: () => keep([]),
  };
}

/** Chooses files or records the microphone; lists what there is, to be heard and taken out. `wrong`: numbers, from 1, that a problem is about. */
export function RecordingPicker({
  label,
  hint,
  most,
  recordings,
  wrong = [],
}: {
  label: string;
  hint: string;
  most: number;
  recordings: Recordings;
  wrong?: readonly number[];
}): VNode {
  const { chosen, add, remove } = recordings;
  const choose = ({ target }: Event) => {
    const input = target as HTMLInputElement;
    add([...(input.files ?? [])]);
    input.value = '';
  };
  return html`<div class="recordings">
    <${Field} label=${label} hint=${hint}>${(ids: object) => html`<input type="file" accept="audio/*,.wav,.flac,.opus,.ogg,.mp3,.m4a" multiple=${most > 1} onChange=${choose} ...${ids} />`}</${Field}>
    <${Recorder} onRecorded=${(file: File) => add([file])} disabled=${most > 1 && chosen.length >= most} />
    <ol class="recording-list" aria-label="Chosen recordings">${chosen.map(
      ({ key, file, url }, at) => html`<li key=${key} class=${wrong.includes(at + 1) ? 'wrong-recording' : ''}>
      <span class="recording-name">Recording ${at + 1}: <${Name} text=${file.name} /> <span class="local">${formatBytes(file.size)}</span>${wrong.includes(at + 1) ? html` <span class="wrong">see the problem below</span>` : null}</span>
      <audio controls preload="metadata" src=${url} aria-label=${`Recording ${at + 1}`}></audio>
      <button type="button" onClick=${() => remove(key)} aria-label=${`Take out recording ${at + 1}`}>Take out</button>
    </li>`,
    )}</ol>
  </div>`;
}

/** The numbers of recordings that a problem names. */
export function recordingsIn(problem: string): number[] {
  return [...problem.matchAll(/\brecording (\d+)\b/gi)].map(([, number]) => Number(number));
}
