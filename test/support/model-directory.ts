import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  spectrogramGraph,
  spectrogramPart,
  waveformGraph,
  waveformPart,
  writeTestModel,
  type TestModel,
} from './onnx-file.ts';

const releases = { 'phone/v7': '2026.03.r1p0', 'phone/v8': '2026.04.r1p0', 'digital/v3': '2025.08.r1' } as const;

/** Parts of manifests by the model whose they are. */
type ModelChanges = Partial<Record<keyof typeof releases, TestModel['manifest']>>;

/**
 * Writes a folder of shipped models in the form of models/, with graphs made for tests: phone/v7 and phone/v8 on the waveform,
 * digital/v3 on the spectrogram, and phone/v5, which was removed.
 */
export async function writeModelDirectory(directory: string, changes: ModelChanges = {}): Promise<string> {
  const rows = Object.entries(releases).map(([model, release]) => ({
    model,
    release,
    removedIn: null,
    replacedBy: null,
    directory: model.replace('/', '-'),
    note: null,
  }));
  const removed = {
    model: 'phone/v5',
    release: '2025.11.r1p0',
    removedIn: '2026.02.r1p0',
    replacedBy: 'phone/v7',
    directory: null,
    note: null,
  };
  await mkdir(directory, { recursive: true });
  await writeFile(
    join(directory, 'registry.json'),
    JSON.stringify({ schema: 'model-registry/1', models: [...rows, removed], defaults: [] }),
  );
  for (const row of rows) await writeModel(join(directory, row.directory), row.model as keyof typeof releases, changes);
  return directory;
}

async function writeModel(directory: string, model: keyof typeof releases, changes: ModelChanges): Promise<void> {
  const isPhone = model.startsWith('phone/');
  await mkdir(directory, { recursive: true });
  await writeTestModel(directory, {
    graph: isPhone ? waveformGraph() : spectrogramGraph(),
    manifest: { ...(isPhone ? waveformPart : spectrogramPart), model, ...changes[model] },
  });
}
