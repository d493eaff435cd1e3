export {
  isProcessAlive,
  isSameProcess,
  startOfProcess,
  withFileLock,
} from '../../clients/typescript/files/file-lock.mjs';
