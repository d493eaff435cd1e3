import { ServiceError } from '../../../runtime/errors.ts';
import type { Graph } from '../inference/graph.ts';
import type { ModelManifest } from '../models/manifest.ts';
import { InputMaker } from './frames.ts';
import { outputColumns, readLogits, type Logits } from './logits.ts';

/** Most numbers in one batch: 16 MB. Models with larger windows are run with fewer at a time than they allow. */
const batchValuesMax = 4_194_304;

/**
 * Windows in one run of the graph, if its manifest allows more: on one thread more of them make nothing faster (digital/v3, ms a window
 * in runs of 1, 4 and 16: 3.5, 2.2, 2.5), and 16 take 40 MiB more than 4, which the process keeps.
 */
const windowsAtOnceMax = 4;

/** Gathers windows, runs the graph when there are as many as fit, and hands each one's logits to whoever added it. */
export class WindowBatch {
  private readonly manifest: ModelManifest;
  private readonly graph: Graph;
  private readonly maker: InputMaker;
  private readonly size: number;
  private values = new Float32Array(0);
  private waiting: ((logits: Logits) => void)[] = [];

  constructor({ manifest, graph }: { readonly manifest: ModelManifest; readonly graph: Graph }) {
    this.manifest = manifest;
    this.graph = graph;
    this.maker = new InputMaker(manifest.input);
    this.size = Math.max(1, Math.min(manifest.limits.batchMax, windowsAtOnceMax, Math.floor(batchValuesMax / this.maker.values)));
  }

  /** @throws ServiceError `model_invalid` if the graph does not answer as its manifest says */
  async add(samples: Float32Array, onLogits: (logits: Logits) => void): Promise<void> {
    this.makeRoom(this.waiting.length + 1);
    this.maker.write(samples, this.values, this.waiting.length * this.maker.values);
    this.waiting.push(onLogits);
    if (this.waiting.length === this.size) await this.flush();
  }

  /**
   * Runs the graph on what is waiting.
   * @throws ServiceError `model_invalid`, as `add`
   */
  async flush(): Promise<void> {
    const waiting = this.waiting.splice(0);
    if (waiting.length === 0) return;
    const columns = outputColumns(this.manifest);
    const output = await this.graph.run(this.values.subarray(0, waiting.length * this.maker.values), [waiting.length, ...this.maker.shape]);
    if (output.length !== waiting.length * columns) {
      const problem = `The graph answered ${output.length} numbers for ${waiting.length} windows; output.layout and output.activation make ${columns} for each.`;
      throw new ServiceError('model_invalid', { operation: 'run model', object: this.manifest.model, problem });
    }
    for (const [place, onLogits] of waiting.entries()) onLogits(readLogits(output.subarray(place * columns, (place + 1) * columns), this.manifest));
  }

  /** Forgets what is waiting, after a recording that could not be read to its end. */
  clear(): void {
    this.waiting = [];
  }

  /** Grows by doubling, so that short recordings do not take the room of a whole batch. */
  private makeRoom(windows: number): void {
    const needed = windows * this.maker.values;
    if (needed <= this.values.length) return;
    const room = new Float32Array(Math.min(this.size * this.maker.values, Math.max(needed, this.values.length * 2)));
    room.set(this.values);
    this.values = room;
  }
}
