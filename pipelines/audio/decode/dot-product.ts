import { WasmKernel } from '../wasm-kernel.ts';

/** Memory, and the sum of products of float32 in it. */
export interface DotProduct {
  /** Zero at first; as long as was asked for, at least. */
  readonly numbers: Float32Array;
  /** The sum of `numbers[taps / 4 + i] * numbers[samples / 4 + i]` for i below `length`, a multiple of 16. Addresses are in bytes. */
  readonly dot: (taps: number, samples: number, length: number) => number;
}

/** dot-product.wat: 5 to 9 times as fast as the same loop in JavaScript (320 taps: 72 ns against 406, on a busy machine). */
const kernel = new WasmKernel<Pick<DotProduct, 'dot'>>(
  '0061736d0100000001080160037f7f7f017d030201000503010001071002066d656d6f7279020003646f7400000aad0101aa0102017f047b2000' +
  '20024102746a2103034020042000fd0004002001fd000400fde601fde401210420052000fd0004102001fd000410fde601fde401210520062000' +
  'fd0004202001fd000420fde601fde401210620072000fd0004302001fd000430fde601fde4012107200141c0006a2101200041c0006a22002003' +
  '490d000b20042005fde40120062007fde401fde40121042004fd1f002004fd1f01922004fd1f022004fd1f0392920b',
);

/** Memory of its own for `length` numbers, with the product on it. */
export function makeDotProduct(length: number): DotProduct {
  const { memory, functions } = kernel.instance(length * Float32Array.BYTES_PER_ELEMENT);
  return { numbers: new Float32Array(memory), dot: functions.dot };
}
