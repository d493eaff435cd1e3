// Preloaded into a process (`--import`): its clock is that of the machine and what the file CLOCK_OFFSET_FILE says, in milliseconds.
import { readFileSync } from 'node:fs';

const SystemDate = Date;
let offsetMs = 0;

const read = () => {
  const text = readFileSync(process.env.CLOCK_OFFSET_FILE, 'utf8');
  if (text !== '') offsetMs = Number(text);
};
read();
setInterval(read, 10).unref();

globalThis.Date = class Date extends SystemDate {
  constructor(...given) {
    super(...(given.length === 0 ? [SystemDate.now() + offsetMs] : given));
  }

  static now() {
    return SystemDate.now() + offsetMs;
  }
};
