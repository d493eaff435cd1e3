/** Most stretches of a picture of a recording: as many as a wide screen has columns. */
export const waveformBucketsMax = 2000;
