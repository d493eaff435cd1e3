// Times each shipped graph on one thread: node training/time-graphs.mjs
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { InferenceSession, Tensor } from 'onnxruntime-node';

const RUNS = 60;
const BATCH = 4;

/** Milliseconds a window, over batches of random spectra. */
async function timeOf(folder) {
  const manifest = JSON.parse(readFileSync(`models/${folder}/manifest.json`, 'utf8'));
  const { frameSamples, hopSamples, fftSize, sampleRate, windowSeconds, name } = manifest.input;
  const shape = [BATCH, Math.floor((sampleRate * windowSeconds - frameSamples) / hopSamples) + 1, fftSize / 2 + 1];
  const data = Float32Array.from({ length: shape[0] * shape[1] * shape[2] }, (_, i) =>
    Math.abs(Math.sin(i * 12.9898) * 0.3),
  );
  const session = await InferenceSession.create(`models/${folder}/model.onnx`, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    const begun = process.hrtime.bigint();
    await session.run({ [name]: new Tensor('float32', data, shape) });
    times.push(Number(process.hrtime.bigint() - begun) / 1e6 / BATCH);
  }
  times.sort((a, b) => a - b);
  return {
    model: manifest.model,
    bytes: manifest.bytes,
    parameters: manifest.parameters,
    millisecondsMedian: times[RUNS / 2].toFixed(2),
    millisecondsBest: times[0].toFixed(2),
  };
}

const folders = readdirSync('models').filter(
  (name) => /^(phone|digital)-v/.test(name) && existsSync(`models/${name}/model.onnx`),
);
const rows = [];
for (const folder of folders) rows.push(await timeOf(folder));
console.table(rows);
