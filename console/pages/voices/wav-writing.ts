const headerBytes = 44;

/** A mono WAV file (RFC 2361, the WAVE format of 1991) of samples of 16 bits. */
export function writeWav(pieces: readonly Int16Array[], sampleRate: number): Uint8Array<ArrayBuffer> {
  const samples = pieces.reduce((sum, { length }) => sum + length, 0);
  const file = new Uint8Array(headerBytes + 2 * samples);
  const view = new DataView(file.buffer);
  const text = (at: number, word: string) =>
    file.set(
      [...word].map((letter) => letter.charCodeAt(0)),
      at,
    );
  text(0, 'RIFF');
  view.setUint32(4, file.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true); // PCM
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, 2 * sampleRate, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, 2 * samples, true);
  let at = headerBytes;
  for (const piece of pieces) {
    for (const sample of piece) {
      view.setInt16(at, sample, true);
      at += 2;
    }
  }
  return file;
}
