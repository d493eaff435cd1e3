import type { CodecContext, FormatContext, Frame, Packet } from 'node-av/lib';
import { AudioRefusal } from '../reasons.ts';

/** The optional package: its functions, and FFmpeg's constants. */
export interface DecoderLibrary {
  readonly functions: typeof import('node-av/lib');
  readonly constants: typeof import('node-av/constants');
}

let loading: Promise<DecoderLibrary> | undefined;

/**
 * The optional package, loaded on first use: it maps 100 MB of FFmpeg, which scoring WAV files does not need. `format` is what it
 * is needed for.
 * @throws AudioRefusal `decoder_missing`
 */
export function loadDecoderLibrary(format: string): Promise<DecoderLibrary> {
  loading ??= Promise.all([import('node-av/lib'), import('node-av/constants')]).then(
    ([functions, constants]) => {
      functions.Log.setLevel(constants.AV_LOG_QUIET);
      return { functions, constants };
    },
    (cause: unknown) => {
      loading = undefined;
      throw Object.assign(
        new AudioRefusal(
          'decoder_missing',
          `This is ${format}, which the optional package node-av reads. Install it (npm ci without --omit=optional), or convert the recording to WAV with PCM.`,
        ),
        { cause },
      );
    },
  );
  return loading;
}

/** The native objects of one recording, with one lifetime. */
export class DecoderHandles {
  readonly library: DecoderLibrary;
  readonly format: FormatContext;
  readonly codec: CodecContext;
  readonly packet: Packet;
  readonly frame: Frame;
  isFreed = false;

  constructor(library: DecoderLibrary) {
    const { FormatContext, CodecContext, Packet, Frame } = library.functions;
    this.library = library;
    this.format = new FormatContext();
    this.codec = new CodecContext();
    this.packet = new Packet();
    this.frame = new Frame();
    this.format.allocContext();
    this.packet.alloc();
    this.frame.alloc();
  }

  free(): void {
    if (this.isFreed) return;
    this.isFreed = true;
    this.frame.free();
    this.packet.free();
    this.codec.freeContext();
    this.format.closeInputSync();
  }
}
