import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  exactForm,
  integerForm,
  nullable,
  objectForm,
  textForm,
  type Form,
  type ValueOf,
} from '../../../format/base/json-forms.ts';
import { directoryForm, manifestInFile } from '../service/manifest.ts';

/** Format of the state file. */
const stateSchema = 'caller-trust/copy/1';

/** Names of the files in the directory of a copy. */
export const copyFiles = { rows: 'rows.tsv.gz', index: 'index.tsv', state: 'state.json' } as const;

const yesOrNo: Form<boolean> = (value) => value === true;

const stateForm = objectForm({
  schema: exactForm(stateSchema),
  /** Of the local file, whose bytes may differ from those of the served one. */
  bytes: integerForm(1),
  /** Of the index of the local file. */
  directory: directoryForm,
  /** Entity tag of the manifest. */
  manifestEtag: nullable(textForm()),
  manifest: manifestInFile,
  /** A signature vouched for the manifest. */
  isVerified: yesOrNo,
});

/** The state of a complete local copy. */
export type CopyState = Readonly<Omit<ValueOf<typeof stateForm>, 'schema'>>;

/** The state of the copy in a directory; undefined if there is no complete one. */
export async function readCopyState(directory: string): Promise<CopyState | undefined> {
  const state = parseState(await readFile(join(directory, copyFiles.state), 'utf8').catch(() => ''));
  const rows = await stat(join(directory, copyFiles.rows)).catch(() => undefined);
  return state !== undefined && rows?.size === state.bytes ? state : undefined;
}

/** The text of a state file. */
export function formatState({ bytes, directory, manifestEtag, manifest, isVerified }: CopyState): string {
  return `${JSON.stringify({ schema: stateSchema, bytes, directory, manifestEtag, isVerified, manifest }, null, 2)}\n`;
}

/** Undefined if the text is incomplete, or not that of a state file. */
function parseState(text: string): CopyState | undefined {
  try {
    const { schema: _schema, ...state } = stateForm(JSON.parse(text));
    return state;
  } catch {
    return undefined;
  }
}
