import { Field, Name } from '../shell/components.ts';
import { Recorder } from './recorder.ts';
import { formatBytes } from '../shell/text.ts';
import { html, useEffect, useRef, useState, type VNode } from '../shell/view.ts';

/** A chosen or new recording, before it is sent. */
interface ChosenRecording {
  readonly key: number;
  readonly file: File;
  /** The URL for playback. */
  readonly url: string;
}

let keys = 0;

/** The recordings of a form, and functions that change them. */
interface Recordings {
  readonly chosen: readonly ChosenRecording[];
  readonly add: (files: readonly File[]) => void;
  readonly remove: (key: number) => void;
  readonly clear: () => void;
}

/** Manages at most `most` recordings of a form, dropping the oldest. */
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

/** Adds files or microphone recordings; lists them, to be played and removed. `wrong`: the numbers, from 1, that a problem is about. */
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

/** The numbers of the recordings in a problem. */
export function recordingsIn(problem: string): number[] {
  return [...problem.matchAll(/\brecording (\d+)\b/gi)].map(([, number]) => Number(number));
}
