import { userInfo } from 'node:os';

/** Name of the account that this process runs as; `uid N` where the system has none, as in a container. */
export function ownAccountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
