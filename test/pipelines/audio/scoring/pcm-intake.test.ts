import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { PcmIntake, PcmNotTaken } from '../../../../pipelines/audio/scoring/pcm-intake.ts';

const pipes: PassThrough[] = [];
afterEach(() => {
  for (const pipe of pipes.splice(0)) pipe.destroy();
});

function intakeOfPipe() {
  const pipe = new PassThrough();
  pipes.push(pipe);
  let report: (fault: PcmNotTaken | 'unasked') => void;
  const fault = new Promise<PcmNotTaken | 'unasked'>((resolve) => (report = resolve));
  return { pipe, fault, intake: new PcmIntake(pipe, (each) => report(each)) };
}

describe('samples on their way', () => {
  it('are all taken when as many have come as there are, whether that was said before or after', async () => {
    for (const isSaidFirst of [true, false]) {
      const { pipe, intake } = intakeOfPipe();
      const taken: number[] = [];
      let heard = () => {};
      const last = new Promise<void>((resolve) => (heard = resolve));
      intake.open(async (bytes) => {
        taken.push(...bytes);
        if (taken.length === 4) heard();
      });
      const said = isSaidFirst ? intake.all(4) : undefined;
      pipe.write(Buffer.of(1, 2));
      pipe.write(Buffer.of(3, 4));
      if (!isSaidFirst) await last;
      await (said ?? intake.all(4));
      expect(taken).toEqual([1, 2, 3, 4]);
    }
  });

  it('that nobody asked for are a fault', async () => {
    const { pipe, fault } = intakeOfPipe();
    pipe.write(Buffer.of(1));
    expect(await fault).toBe('unasked');
  });

  it('that come when the recording has ended are a fault', async () => {
    const { pipe, intake, fault } = intakeOfPipe();
    intake.open(async () => {});
    pipe.write(Buffer.of(1, 2));
    await intake.all(2);
    intake.close();
    pipe.write(Buffer.of(3));
    expect(await fault).toBe('unasked');
  });

  it('beyond as many as were said are a fault', async () => {
    const { pipe, intake, fault } = intakeOfPipe();
    intake.open(async () => {});
    void intake.all(2);
    pipe.write(Buffer.of(1, 2, 3));
    expect(await fault).toBe('unasked');
  });

  it('that cannot be taken are a fault with its cause', async () => {
    const { pipe, intake, fault } = intakeOfPipe();
    const cause = new Error('no room');
    intake.open(() => Promise.reject(cause));
    pipe.write(Buffer.of(1));
    expect(await fault).toMatchObject({ name: 'PcmNotTaken', cause });
  });
});
