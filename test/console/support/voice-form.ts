import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';

/** Sample recordings of one reader, as somebody would enrol them, and one more to compare. */
export const readerA = ['reader-a-1.wav', 'reader-a-2.wav', 'reader-a-3.flac'].map(
  (name) => `samples/recordings/${name}`,
);
export const readerAAgain = 'samples/recordings/reader-a-4.opus';
export const readerB = 'samples/recordings/reader-b-1.mp3';

/** A form with fields and files, as a page sends it. */
export async function formOf(fields: Record<string, string>, files: readonly string[] = []): Promise<FormData> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const path of files) form.append('recording', new File([await readFile(path)], basename(path)));
  return form;
}

/** The fields of an enrolment. */
export function enrolmentOf(subject: string, changes: Record<string, string> = {}): Record<string, string> {
  return {
    owner: 'acme-bank',
    subject,
    consentReference: 'form 2026-118',
    consentAt: '2026-05-02',
    consentCovers: 'yes',
    ...changes,
  };
}
