import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addMonths, letterValidity } from '../../../../pipelines/branding/brand/letter-validity.ts';

describe('the validity of a letter', () => {
  it.each([
    ['2026-03-10', '2026-03-20T12:00:00Z', '2027-03-11T00:00:00.000Z'],
    ['2024-02-29', '2024-03-01T00:00:00Z', '2025-03-01T00:00:00.000Z'],
    [null, '2026-12-31T23:59:59Z', '2028-01-01T00:00:00.000Z'],
  ])('signed %s and approved %s ends at %s', (signedOn, approvedAt, until) => {
    expect(letterValidity({ signedOn, endsOn: null, approvedAt: new Date(approvedAt) })).toEqual({
      from: new Date(approvedAt),
      until: new Date(until),
    });
  });

  it.each([
    ['2026-06-30', '2026-07-01T00:00:00.000Z'],
    ['2028-01-01', '2027-03-11T00:00:00.000Z'],
  ])('of a letter that says that it ends on %s is over at %s', (endsOn, until) => {
    expect(
      letterValidity({ signedOn: '2026-03-10', endsOn, approvedAt: new Date('2026-03-20T12:00:00Z') }),
    ).toMatchObject({ until: new Date(until) });
  });

  it('does not begin where it would have ended', () => {
    expect(
      letterValidity({ signedOn: '2026-03-10', endsOn: null, approvedAt: new Date('2027-03-10T23:59:59.999Z') }),
    ).not.toBe(null);
    expect(letterValidity({ signedOn: '2026-03-10', endsOn: null, approvedAt: new Date('2027-03-11T00:00:00Z') })).toBe(
      null,
    );
  });
});

describe('months later', () => {
  it.each([
    ['2026-01-31', 1, '2026-02-28'],
    ['2024-01-31', 1, '2024-02-29'],
    ['2026-12-15', 1, '2027-01-15'],
    ['2026-05-31', 12, '2027-05-31'],
  ])('%s and %i is %s', (date, months, result) => {
    expect(addMonths(date, months)).toBe(result);
  });

  it('is the same day of the month, or its last', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true }),
        fc.integer({ min: 0, max: 48 }),
        (date, months) => {
          const [before, after] = [date.toISOString().slice(0, 10), addMonths(date.toISOString().slice(0, 10), months)];
          const next = new Date(`${after}T00:00:00Z`);
          next.setUTCDate(next.getUTCDate() + 1);
          expect(
            after.slice(8) === before.slice(8) || (after.slice(8) < before.slice(8) && next.getUTCDate() === 1),
          ).toBe(true);
          expect(
            (Number(after.slice(0, 4)) - Number(before.slice(0, 4))) * 12 +
              Number(after.slice(5, 7)) -
              Number(before.slice(5, 7)),
          ).toBe(months);
        },
      ),
    );
  });
});
