import { expect, it } from 'vitest';
import { onlyLimits } from '../../../../../pipelines/branding/reading/gate/letter-limits.ts';
import { letterLimits } from '../letter-limits.ts';

it('the limits that go to a child are all of them, and nothing else of the settings', () => {
  expect(onlyLimits({ ...letterLimits, letterMasterKey: 'secret' } as typeof letterLimits)).toEqual(letterLimits);
});
