import { WasmKernel } from './wasm-kernel.ts';

/** Sums over float32 and their scaling, on memory of their own. Addresses are in bytes; what lies between two is a multiple of four numbers. */
export interface LevelKernel {
  /** Zero at first; as long as was asked for, at least. */
  readonly numbers: Float32Array;
  readonly sum: (at: number, end: number) => number;
  readonly sumSquares: (at: number, end: number) => number;
  /** Each number becomes (number - mean) * gain. */
  readonly scale: (at: number, end: number, mean: number, gain: number) => void;
}

/** level-kernel.wat: 4 s at 16 kHz take 0.1 ms against 0.36 in JavaScript, copied in and out, on a busy machine. */
const kernel = new WasmKernel<Omit<LevelKernel, 'numbers'>>(
  '0061736d0100000001130360027f7f017c60017b017c60047f7f7d7d00030504000001020503010001072504066d656d6f727902000373756d00' +
    '000a73756d537175617265730001057363616c6500030a8a02045501037b02400340200020014f0d012000fd000400210420022004fd5ffdf001' +
    '2102200320042004fd0d08090a0b0c0d0e0f0001020304050607fd5ffdf0012103200041106a21000c000b0b20022003fdf00110020b6701057b' +
    '02400340200020014f0d012000fd00040021042004fd5f210520042004fd0d08090a0b0c0d0e0f0001020304050607fd5f2106200220052005fd' +
    'f201fdf0012102200320062006fdf201fdf0012103200041106a21000c000b0b20022003fdf00110020b0d002000fd21002000fd2101a00b3c01' +
    '027b2002fd1321042003fd13210502400340200020014f0d0120002000fd0004002004fde5012005fde601fd0b0400200041106a21000c000b0b' +
    '0b',
);

/** Memory of its own for `length` numbers, with the loops on it. */
export function makeLevelKernel(length: number): LevelKernel {
  const { memory, functions } = kernel.instance(length * Float32Array.BYTES_PER_ELEMENT);
  return { numbers: new Float32Array(memory), ...functions };
}
