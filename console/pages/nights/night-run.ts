import type { Json } from '../../answers/json.ts';
import type { NightSettings, ReleasedFiles, RequestedNight } from '../../answers/night-answers.ts';
import { ActionButton, DialogButton, ChoiceField } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { ReasonButton } from '../shell/reason-dialog.ts';
import { useRequestKey } from '../shell/request-key.ts';
import { postOnce, sendJson } from '../shell/request.ts';
import { goTo } from '../shell/router.ts';
import { html, useId, useState, type VNode } from '../shell/view.ts';

/** The request of a night. */
interface NightChoice {
  readonly only: string;
  readonly acceptShrink: boolean;
}

/**
 * A button that opens a dialog, runs a night, and shows it. `choices`: artefacts to choose from, besides everything. Pressed
 * twice, or again after a lost answer, it runs one night, even if the dialog was closed in between.
 */
export function RunNight({
  choices,
  label,
  only = '',
  kind = 'primary',
}: {
  choices: readonly string[];
  label: string;
  only?: string;
  kind?: 'primary' | '';
}): VNode {
  const { key, renew, explain } = useRequestKey({
    detail: 'A night was asked for here before, and the choice has been changed since.',
    hint: 'Press again to run this one too.',
  });
  const run = (close: () => void) => async (choice: NightChoice) => {
    const { runId } = await askForNight(choice, key).catch((error: unknown) => {
      throw explain(error);
    });
    renew();
    close();
    goTo(`/nights/${runId}`);
  };
  return html`<${DialogButton} label=${label} kind=${kind} title="Run a night now">${(close: () => void) => html`<${Choices} choices=${choices} only=${only} run=${run(close)} onLeave=${close} />`}</${DialogButton}>`;
}

/** Releases files that gates hold: one by name, or all held files if several are held for the same reason. */
export function ReleaseFiles({ names }: { names: readonly string[] }): VNode {
  const [released, setReleased] = useState<readonly string[]>([]);
  const [only, what] = names.length === 1 ? [names[0]!, names[0]!] : [null, 'every held file'];
  const release = async (reason: string) =>
    setReleased((await sendJson<ReleasedFiles>('POST', '/api/nights/release', { only, reason })).released);
  if (released.length > 0)
    return html`<p role="status">Released: ${released.join(', ')}. The next night publishes what differs no more than what was held.</p>`;
  return html`<${ReasonButton} label=${`Release ${what}`} title=${`Release ${what}?`} confirm="Release" act=${release}><p>The next night publishes it, if it differs from what is published by no more than the build that was held, and a fifth. Find out first why it differs.</p></${ReasonButton}>`;
}

function askForNight(choice: NightChoice, key: string): Promise<Json<RequestedNight>> {
  return postOnce('/api/nights', { key, body: { ...choice, only: choice.only === '' ? null : choice.only } });
}

function Choices({
  choices,
  only,
  run,
  onLeave,
}: {
  choices: readonly string[];
  only: string;
  run: (choice: NightChoice) => Promise<void>;
  onLeave: () => void;
}): VNode {
  const [choice, setChoice] = useState<NightChoice>({ only, acceptShrink: false });
  const { value: settings } = useReading<NightSettings>('/api/nights/settings');
  const caches = [...new Set(choices.map((name) => name.split('/')[0]!))];
  const names = [...new Set([...caches, ...choices, ...(only === '' ? [] : [only])])].sort();
  return html`
    <p>It builds from the data as they are when a worker opens it, as today's night. Readers keep what is published until a file is whole.</p>
    <${ChoiceField} label="What to build" value=${choice.only} choices=${[['', 'everything'], ...names.map((name) => [name, name])]} onChoose=${(only: string) => setChoice({ ...choice, only })} />
    <${Check} label="Accept files that shrink" isOn=${choice.acceptShrink} onChange=${(acceptShrink: boolean) => setChoice({ ...choice, acceptShrink })}
      hint=${`Otherwise a file that would lose more than ${settings === undefined ? 'the allowed share' : `${settings.shrinkPercentMax} %`} of its rows is not published. Find out why rows are missing before.`} />
    <div class="actions"><button type="button" onClick=${onLeave}>Cancel</button><${ActionButton} kind="primary" busyText="Asking …" act=${() => run(choice)}>Run the night</${ActionButton}></div>`;
}

function Check({
  label,
  hint,
  isOn,
  onChange,
}: {
  label: string;
  hint: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}): VNode {
  const id = useId();
  return html`<div class="night-choice">
    <input id=${id} type="checkbox" checked=${isOn} aria-describedby=${`${id}-hint`} onChange=${(event: Event) => onChange((event.target as HTMLInputElement).checked)} />
    <div><label for=${id}>${label}</label><p class="hint" id=${`${id}-hint`}>${hint}</p></div>
  </div>`;
}
