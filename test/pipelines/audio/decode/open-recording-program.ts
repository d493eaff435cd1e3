// What open-recording.test.ts loads in a place without packages.
export { openRecording } from '../../../../pipelines/audio/decode/open-recording.ts';
