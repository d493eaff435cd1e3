import type { SubmittedFeed } from '../../answers/feed-answers.ts';
import { ActionButton, Dialog, Field } from '../shell/components.ts';
import { sendForm } from '../shell/request.ts';
import { goTo } from '../shell/router.ts';
import { html, useState, type VNode } from '../shell/view.ts';

const feeds = ['complaints', 'reputation', 'directory'];

/** A button that asks for a file and its feed, hands it in, and shows its load. */
export function FeedUpload(): VNode {
  const [isOpen, setOpen] = useState(false);
  return html`<span>
    <button type="button" class="primary" onClick=${() => setOpen(true)}>Load a file</button>
    <${Dialog} title="Load a file" isOpen=${isOpen} onClose=${() => setOpen(false)}><${UploadForm} onLeave=${() => setOpen(false)} /></${Dialog}>
  </span>`;
}

function UploadForm({ onLeave }: { onLeave: () => void }): VNode {
  const [feed, setFeed] = useState(feeds[0]!);
  const [source, setSource] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const load = async () => {
    const form = new FormData();
    form.set('feed', feed);
    form.set('options', JSON.stringify(source.trim() === '' ? {} : { source: source.trim() }));
    form.set('file', file!);
    const { loadId } = await sendForm<SubmittedFeed>('/api/feeds/loads', form);
    goTo(`/feeds/${loadId}`);
  };
  return html`
    <p>CSV or TSV, plain or gzipped. Files in other shapes need the options of the command line.</p>
    <${Field} label="Feed">${(ids: object) => html`<select value=${feed} onChange=${({ target }: Event) => setFeed((target as HTMLSelectElement).value)} ...${ids}>${feeds.map((name) => html`<option value=${name}>${name}</option>`)}</select>`}</${Field}>
    <${Field} label="Source" hint="Which provider it is from, if there are several.">${(ids: object) => html`<input type="text" maxlength="40" autocomplete="off" value=${source} onInput=${({ target }: Event) => setSource((target as HTMLInputElement).value)} ...${ids} />`}</${Field}>
    <${Field} label="File">${(ids: object) => html`<input type="file" onChange=${({ target }: Event) => setFile((target as HTMLInputElement).files?.[0] ?? null)} ...${ids} />`}</${Field}>
    <div class="actions"><button type="button" onClick=${onLeave}>Cancel</button><${ActionButton} kind="primary" busyText="Sending …" disabled=${file === null} act=${load}>Load the file</${ActionButton}></div>` as VNode;
}
