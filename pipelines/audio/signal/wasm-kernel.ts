/** The part of WebAssembly that is used; Node has it, the libraries that the project compiles with do not declare it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

const pageBytes = 65_536;

/**
 * Makes instances of a small WebAssembly module with 128-bit SIMD that exports `memory` and functions. V8 has no other way
 * to vector instructions. The module is given as hexadecimal digits; beside each lies its text, `<name>.wat`, of which
 * `wat2wasm` (WebAssembly Binary Toolkit) makes the same bytes.
 */
export class WasmKernel<Functions> {
  private readonly digits: string;
  private compiled: object | undefined;

  constructor(digits: string) {
    this.digits = digits;
  }

  /** An instance with `bytes` of memory of its own, or somewhat more, which is zero. */
  instance(bytes: number): { readonly memory: ArrayBuffer; readonly functions: Functions } {
    this.compiled ??= new WebAssembly.Module(Buffer.from(this.digits, 'hex'));
    const { memory, ...functions } = new WebAssembly.Instance(this.compiled).exports as {
      readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
    };
    memory.grow(Math.max(0, Math.ceil(bytes / pageBytes) - 1));
    return { memory: memory.buffer, functions: functions as Functions };
  }
}
