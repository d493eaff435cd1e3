import { expect, it } from 'vitest';
import { describeService } from '../../../cli/service/start.ts';

const addresses = { consoleUrl: 'http://127.0.0.1:8090', apiUrl: 'http://127.0.0.1:8080', intakeUrl: null };

it('a person at a terminal reads where console, API and intake are, and how to make the first user while there is none', () => {
  const [first, later] = [
    describeService({ ...addresses, hasUsers: false }),
    describeService({ ...addresses, hasUsers: true }),
  ];
  for (const notice of [first, later]) expect(notice).toMatch(/Console +http:.*:8090\n.*API +http:.*:8080 .*\/docs/);
  expect(first).toContain('console users add NAME --role operator --generate');
  expect(later).not.toContain('users add');
  expect(later).toMatch(/Intake +off \(INTAKE=on/);
  const intakeUrl = 'http://127.0.0.1:8070';
  expect(describeService({ ...addresses, intakeUrl, hasUsers: true })).toMatch(/Intake +http:.*:8070\n/);
});
