import type { ServerMessage } from '../../../answers/detection-answers.ts';
import type { Json } from '../../../answers/json.ts';
import type { ScoredWindow, Scores } from '../../../answers/verification-answers.ts';
import { Problem } from '../../shell/request.ts';

/** The request of a stream. */
interface StreamRequest {
  readonly model: string;
  readonly sampleRate: number;
  readonly channels: 'apart' | 'mixed';
  readonly name: string;
}

/** Callbacks for the messages of the service. */
interface StreamListener {
  onReady(facts: { readonly model: string; readonly thresholds: Scores; readonly secondsMax: number }): void;
  onWindow(window: Json<ScoredWindow>): void;
  onProgress(progress: { readonly receivedSeconds: number; readonly voiceSeconds: number }): void;
  /** The whole recording is verified and stored. */
  onVerified(id: string): void;
  /** No further message arrives. */
  onProblem(problem: Problem): void;
}

/** Pending upload bytes at which the network counts as too slow: half a minute at 48 kHz. */
const waitingBytesMax = 3_000_000;

/** Uploads audio while it is recorded. */
export class CaptureStream {
  private readonly socket: WebSocket;
  private readonly listener: StreamListener;
  private isOver = false;
  private hasEnded = false;

  constructor({ model, sampleRate, channels, name }: StreamRequest, listener: StreamListener) {
    this.listener = listener;
    this.socket = new WebSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/stream`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.addEventListener('open', () =>
      this.say({ type: 'start', model, format: { encoding: 'pcm_s16le', sampleRate, channels: 1 }, channels, name }),
    );
    this.socket.addEventListener('message', ({ data }: MessageEvent<string>) =>
      this.take(JSON.parse(data) as Json<ServerMessage>),
    );
    this.socket.addEventListener('close', () =>
      this.fail(
        new Problem({
          status: 0,
          code: 'stream_lost',
          detail: 'The connection of the stream broke off.',
          hint: 'The received audio is verified: see Verifications.',
        }),
      ),
    );
  }

  /** Sends samples of 16 bits. */
  send(samples: ArrayBuffer): void {
    if (this.isOver || this.hasEnded || this.socket.readyState !== WebSocket.OPEN) return;
    if (this.socket.bufferedAmount > waitingBytesMax)
      return this.fail(
        new Problem({
          status: 0,
          code: 'network_slow',
          detail: 'The network is slower than the recording.',
          hint: 'Record to a file and submit that.',
        }),
      );
    this.socket.send(samples);
  }

  /** Ends the recording; the verification follows. */
  end(): void {
    this.hasEnded = true;
    this.say({ type: 'end' });
  }

  /** Disconnects; the received audio is still verified. */
  leave(): void {
    this.isOver = true;
    this.socket.close();
  }

  private say(message: object): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private take(message: Json<ServerMessage>): void {
    if (this.isOver) return;
    const { listener } = this;
    if (message.type === 'ready')
      listener.onReady({ model: message.model, thresholds: message.thresholds, secondsMax: message.limits.secondsMax });
    if (message.type === 'window') listener.onWindow(message);
    if (message.type === 'progress') listener.onProgress(message);
    if (message.type === 'error')
      this.fail(new Problem({ status: 0, code: message.code, detail: message.problem, hint: message.hint }));
    if (message.type === 'verification') {
      this.isOver = true;
      listener.onVerified(message.verification.id);
    }
  }

  private fail(problem: Problem): void {
    if (this.isOver) return;
    this.isOver = true;
    this.socket.close();
    this.listener.onProblem(problem);
  }
}
