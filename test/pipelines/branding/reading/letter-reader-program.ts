// What letter-reader.test.ts loads into a process whose system calls it watches.
export { readLetterFile } from '../../../../pipelines/branding/reading/letter-reader.ts';
