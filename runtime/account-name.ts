import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';

const secondsMax = 5;

/** Name of the account with a user id, as the system resolves it (also from a directory service); `uid N` where it has none. */
export async function accountName(uid: number): Promise<string> {
  if (uid === userInfo().uid) return userInfo().username;
  const { stdout } = await promisify(execFile)('id', ['-nu', String(uid)], { timeout: secondsMax * 1000 }).catch(
    () => ({ stdout: '' }),
  );
  return stdout.trim() || `uid ${uid}`;
}
