let made = 0;

/** The next number of a test file, from 1. */
export function nextFresh(): number {
  return ++made;
}

/** Begins at 1 again. Test files share modules: without this, one file's names would depend on those that ran before it. */
export function restartFresh(): void {
  made = 0;
}
