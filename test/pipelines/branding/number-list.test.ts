import { describe, expect, it } from 'vitest';
import { judgeNumberTexts, numbersRowsMax, readNumberList } from '../../../pipelines/branding/number-list.ts';

const read = (text: string | Buffer) => readNumberList(Buffer.from(text));

describe('a list of numbers', () => {
  it.each([
    ['with a header', 'phone\n+12125550143\n'],
    ['without one', '+12125550143\n'],
    ['with a byte order mark, CRLF and other columns', '\uFEFFname,Phone_Number\r\n"A, B",+1 (212) 555-0143\r\n'],
    ['separated by tabs', 'number\tnote\n+12125550143\tx\n'],
  ])('%s is read', async (_what, text) => {
    expect((await read(text)).map(({ phone }) => phone)).toEqual(['+12125550143']);
  });

  it('says of each row that names no number why, by its line', async () => {
    expect(await read('phone\n+12125550143\nabc\n\n+1999\n')).toMatchObject([
      { line: 2, phone: '+12125550143', country: 'US' },
      { line: 3, code: 'phone_invalid' },
      { line: 4, code: 'phone_missing' },
      { line: 5, code: 'phone_invalid' },
    ]);
  });

  it('may have as many rows as the limit, and not one more', async () => {
    expect(await read('+12125550143\n'.repeat(numbersRowsMax))).toHaveLength(numbersRowsMax);
    await expect(read('+12125550143\n'.repeat(numbersRowsMax + 1))).rejects.toMatchObject({
      code: 'numbers_file_invalid',
      problem: 'The file has more than 100000 rows.',
    });
  });

  it.each([
    ['that is empty', ''],
    ['of a header alone', 'phone\n'],
    ['without a column for numbers', 'name,city\nA,B\n'],
    ['that is no text', Buffer.from([0xff, 0xfe, 0, 1, 2, 3])],
  ])('%s is refused', async (_what, text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'numbers_file_invalid' });
  });

  it('of a request counts places as lines', () => {
    expect(judgeNumberTexts(['+12125550143', 'x'])).toMatchObject([
      { line: 1, phone: '+12125550143' },
      { line: 2, phone: null, code: 'phone_invalid' },
    ]);
  });
});
