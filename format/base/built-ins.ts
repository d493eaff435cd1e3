/**
 * Built-ins of Node that browsers lack, or have under another name. Node's own are taken where there are any, because they are
 * several times as fast; they are looked up at run time, so that the same modules load in a browser.
 */

/** What this package uses of node:zlib. */
interface NodeZlib {
  crc32(bytes: Uint8Array, start: number): number;
  createGunzip(options: { chunkSize: number }): NodeStream;
  deflateRaw(bytes: Uint8Array, options: object, done: (error: Error | null, deflated: Uint8Array) => void): void;
  inflateRaw(bytes: Uint8Array, options: object, done: (error: Error | null, plain: Uint8Array) => void): void;
  readonly constants: { readonly Z_SYNC_FLUSH: number; readonly Z_FULL_FLUSH: number; readonly Z_FILTERED: number };
}

/** What this package uses of node:crypto. */
interface NodeCrypto {
  createHash(name: 'sha256'): { update(bytes: Uint8Array): unknown; digest(form: 'hex'): string };
}

/** A transforming stream of Node. */
interface NodeStream extends AsyncIterable<Uint8Array> {
  destroy(): unknown;
}

interface NodeStreams {
  pipeline(from: AsyncIterable<Uint8Array>, to: NodeStream, done: (error: unknown) => void): unknown;
}

interface NodeGlobals {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

const getBuiltInModule = (globalThis as NodeGlobals).process?.getBuiltinModule;

/** Undefined in browsers, as the next two. */
export const nodeZlib = getBuiltInModule?.('node:zlib') as NodeZlib | undefined;
export const nodeCrypto = getBuiltInModule?.('node:crypto') as NodeCrypto | undefined;
export const nodeStreams = getBuiltInModule?.('node:stream') as NodeStreams | undefined;
