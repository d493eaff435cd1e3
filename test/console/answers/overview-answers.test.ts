import { describe, expect, it } from 'vitest';
import { decideAttention, type StandingFacts } from '../../../console/answers/overview-answers.ts';

const now = Date.parse('2026-03-02T08:00:00Z');
const idle = { waiting: 0, active: 0, delayed: 0, 'waiting-children': 0, completed: 0, failed: 0 };
const night = { runId: 7, date: '2026-03-02', outcome: 'ok', files: 12, filesFailed: 0 } as StandingFacts['lastNight'];

/** Facts in which all is well, with some that differ. */
function facts(different: Partial<StandingFacts> = {}): StandingFacts {
  return {
    now,
    ageHoursMax: 26,
    publications: [{ cache: 'phones', country: 'US', stale: null, confirmedAsOf: new Date('2026-03-02T01:00:00Z') }],
    lastNight: night,
    caches: [],
    feeds: [{ feed: 'complaints', source: '', lastAt: null, rows: 1, expectedHours: 24, ageHours: 2, late: false }],
    waiting: { letters: 0, brands: 0, disputes: 0 },
    held: { loadsHeld: 0, loadsFailed: 0, operationsFailed: 0 },
    signatures: [],
    webhooks: { failing: [], givenUp: [] },
    queues: [{ name: 'nights', isPaused: false, workers: 1, counts: idle }],
    ...different,
  };
}

const titles = (different: Partial<StandingFacts>) =>
  decideAttention(facts(different)).map(({ severity, title }) => `${severity}: ${title}`);

describe('what needs attention', () => {
  it('is nothing while all is well', () => {
    expect(decideAttention(facts())).toEqual([]);
  });

  it('names stale files by the reason, and not more than four of them', () => {
    const stale = { code: 'night_gates', reason: 'The test says so.', since: new Date(now) };
    const publications = ['AT', 'CH', 'DE', 'FR', 'IT'].map((country) => ({
      cache: 'phones' as const,
      country,
      stale,
      confirmedAsOf: new Date(now),
    }));
    expect(decideAttention(facts({ publications }))).toEqual([
      {
        severity: 'bad',
        title: '5 files are of an earlier night: night gates',
        detail: 'phones/AT, phones/CH, phones/DE, phones/FR and 1 more. The test says so.',
        href: '/artefacts',
      },
    ]);
  });

  it.each([
    [26, []],
    [26.01, ['bad: No night has confirmed 1 file for 26 hours']],
  ])('counts a file that was confirmed %d hours ago: %j', (hours, expected) => {
    const confirmedAsOf = new Date(now - hours * 3_600_000);
    expect(titles({ publications: [{ cache: 'phones', country: 'US', stale: null, confirmedAsOf }] })).toEqual(
      expected,
    );
  });

  it('names signatures that end: of the root while people can still meet, of the others when the scheduler fails', () => {
    const signatures = [
      { role: 'root', expires: '2026-04-01T07:59:59Z' },
      { role: 'timestamp', expires: '2026-03-02T08:00:00Z' },
      { role: 'snapshot', expires: '2026-03-05T07:59:59Z' },
      { role: 'targets', expires: '2026-03-09T08:00:00Z' }, // seven days are enough
    ] as const;
    expect(titles({ signatures })).toEqual([
      'bad: The signature of the timestamp has expired',
      'bad: The signature of the snapshot expires soon',
      'warn: The signature of the root expires soon',
    ]);
  });

  it('names endpoints of webhooks that fail, and those that were disabled for it', () => {
    expect(titles({ webhooks: { failing: ['acme', 'ops'], givenUp: ['old'] } })).toEqual([
      'bad: 1 endpoint of webhooks was disabled, having failed',
      'warn: 2 endpoints of webhooks fail',
    ]);
  });

  it('distinguishes a night that failed from none at all', () => {
    expect(titles({ lastNight: { ...night!, outcome: 'partial', filesFailed: 2 } })).toEqual([
      'bad: The last night ended as partial',
    ]);
    expect(titles({ lastNight: null })).toEqual(['warn: There has been no night yet']);
  });

  it('puts what is wrong before what waits', () => {
    expect(
      titles({
        feeds: [
          { feed: 'reputation', source: 'acme', lastAt: null, rows: null, expectedHours: 24, ageHours: 99, late: true },
        ],
        waiting: { letters: 2, brands: 1, disputes: 1 },
        held: { loadsHeld: 1, loadsFailed: 1, operationsFailed: 2 },
        queues: [
          { name: 'nights', isPaused: false, workers: 0, counts: { ...idle, waiting: 1 } },
          { name: 'builds', isPaused: true, workers: 1, counts: { ...idle, waiting: 3, failed: 1 } },
          { name: 'loads', isPaused: false, workers: 0, counts: idle },
        ] as StandingFacts['queues'],
      }),
    ).toEqual([
      'bad: 1 feed has stopped coming',
      'bad: No worker takes from the queue nights',
      'bad: The queue builds is paused',
      'warn: 1 load is held',
      'warn: 1 load failed in the last seven days',
      'warn: 1 job of the queue builds failed',
      'warn: 2 letters wait',
      'warn: 1 brand waits',
      'warn: 1 dispute waits',
      'warn: 2 branding requests failed',
    ]);
  });

  it('speaks of one letter or brand as one', () => {
    const details = (letters: number, brands: number) =>
      decideAttention(facts({ waiting: { letters, brands, disputes: 0 } })).map(({ detail }) => detail);
    expect(details(1, 2)).toEqual([
      'A reviewer decides it at the review desk.',
      'A reviewer decides them at the review desk.',
    ]);
  });
});
