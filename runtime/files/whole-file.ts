export {
  createWholeFile,
  keepWholeFile,
  syncPath,
  writeAll,
  writeWholeFile,
  type Content,
} from '../../clients/typescript/files/whole-file.ts';
