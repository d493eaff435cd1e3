/**
 * Progress of a waiting command, on standard error: one line that is overwritten on a terminal, and nothing elsewhere, so
 * that logs contain only results and errors.
 */
export interface Progress {
  show(text: string): void;
  end(): void;
}

export function startProgress(): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { show() {}, end() {} };
  let shown = '';
  return {
    show(text) {
      if (text === shown) return;
      shown = text;
      stderr.write(`\r\x1b[K${text.slice(0, (stderr.columns || 80) - 1)}`); // some terminals report 0
    },
    end() {
      if (shown !== '') stderr.write('\r\x1b[K');
    },
  };
}

/** A bar of `width` characters for a share between 0 and 1. */
export function formatBar(share: number, width = 20): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}]`;
}
