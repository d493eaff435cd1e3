import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { windowSamples } from '../../../../pipelines/audio/models/manifest.ts';
import { loadShippedRegistry } from '../../../../pipelines/audio/models/registry.ts';
import { shippedModelsDirectory } from '../../../../pipelines/audio/models/shipped-models.ts';
import type { Logits } from '../../../../pipelines/audio/scoring/score-decision.ts';
import { OpenModels } from '../../../../pipelines/audio/scoring/open-models.ts';

const registry = await loadShippedRegistry();
const available = registry.models().filter(({ state }) => state === 'available');
const opened = new OpenModels();
afterAll(() => opened.close());

/** What the training code got from its own signal path, on signals made by the formula in the file. */
const checkForm = z.looseObject({
  model: z.string(),
  formula: z.string(),
  seed: z.number().int(),
  sampleRate: z.number().int(),
  tolerance: z.number().max(0.01),
  cases: z.array(z.looseObject({ seconds: z.number(), logits: z.array(z.number()).min(1) })).min(1),
});

/** The formula of check.json: two tones, one of them in syllables, and noise of a Lehmer generator. */
function checkSignal({ seed, sampleRate }: { seed: number; sampleRate: number }, seconds: number): Float32Array {
  let state = seed;
  return Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_none, at) => {
    state = (16_807 * state) % 2_147_483_647;
    const [noise, time] = [state / 2_147_483_647 - 0.5, at / sampleRate];
    return (
      (0.2 * Math.sin(2 * Math.PI * 180 * time) * (1 + Math.sin(2 * Math.PI * 3 * time))) / 2 +
      0.1 * Math.sin(2 * Math.PI * 1130 * time) +
      0.05 * noise
    );
  });
}

describe.each(available.map((entry) => [entry.model, entry] as const))(
  'the shipped model %s',
  (name, { directory, fault, manifest }) => {
    it('has weights that its manifest describes, and a card', () => {
      expect(fault).toBeNull();
      expect(manifest?.model).toBe(name);
      expect(existsSync(join(directory!, 'card.md')), `${directory}/card.md`).toBe(true);
    });

    it('gives the logits that the training code got', async () => {
      const resolution = registry.resolve(name);
      if (resolution.kind !== 'model') throw new Error(`${name} is ${resolution.kind}`);
      const check = checkForm.parse(JSON.parse(await readFile(join(directory!, 'check.json'), 'utf8')));
      const { batch, manifest: opening } = await opened.open(resolution.model);
      const found: Logits[] = [];
      for (const { seconds } of check.cases)
        await batch.add(checkSignal(check, seconds).subarray(0, windowSamples(opening.input)), (logits) =>
          found.push(logits),
        );
      await batch.flush();
      expect(check.sampleRate).toBe(opening.input.sampleRate);
      expect(found).toHaveLength(check.cases.length);
      for (const [place, { logits }] of check.cases.entries()) {
        const pairs = opening.output.layout.map((score, column) => [found[place]![score]!, logits[column]!] as const);
        for (const [own, expected] of pairs)
          expect(Math.abs(own - expected), `${name}: ${own} for ${expected}`).toBeLessThan(check.tolerance);
      }
    });
  },
);

describe('the shipped models', () => {
  it('have the detector telephone/2 that their stored results were made with: other weights need another name', async () => {
    const manifest = JSON.parse(
      await readFile(join(shippedModelsDirectory, 'voice-activity-telephone-2', 'manifest.json'), 'utf8'),
    ) as { sha256: string };
    // A result is kept under the digest of its model's manifest, which names the detector without its digest.
    expect(manifest.sha256).toBe('7c073b221f81dc6fd59f94e93042ee44ca56b0076387e62203aa35fbc807be64');
  });

  it('are thirteen, one of them removed', () => {
    expect(registry.models()).toHaveLength(13);
    expect(
      registry
        .models()
        .filter(({ state }) => state === 'removed')
        .map(({ model }) => model),
    ).toEqual(['phone/v5']);
  });
});
