import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { METRICS, type MetricName } from '../../runtime/metrics/metric-table.ts';
import { productSources, readProjectFile, tableRows } from './source-tree.ts';

const table = Object.entries(METRICS) as [MetricName, (typeof METRICS)[MetricName]][];

/** Series that every process has besides the closed list, as the client library of Prometheus names them. */
const ofEachProcess = /^caller_trust_(process|nodejs)_[a-z0-9_]+$/;

/** The names of the series of a metric. */
const series = new Map(
  table.flatMap(([name, { kind, labels }]): [string, readonly string[]][] =>
    kind === 'histogram'
      ? [
          [`${name}_bucket`, [...labels, 'le']],
          [`${name}_sum`, labels],
          [`${name}_count`, labels],
        ]
      : [[name, labels]],
  ),
);

/** Labels that Prometheus or its discovery sets on every series: one of a metric would be renamed. */
const targetLabels = ['instance', 'job', 'process'];

describe('a metric', () => {
  it('is named by the conventions of Prometheus', () => {
    const wrong = table.filter(([name, { kind, labels }]) => {
      const isCounter = name.endsWith('_total');
      return (
        !/^caller_trust(_[a-z0-9]+)+$/.test(name) ||
        isCounter !== (kind === 'counter') ||
        /_(ms|milliseconds|minutes|hours|kb|mb|percent)(_|$)/.test(name) ||
        (kind === 'histogram' && !/_(seconds|bytes)$/.test(name)) ||
        (name.includes('timestamp') && !name.endsWith('_timestamp_seconds')) ||
        labels.some(
          (label) => !/^[a-z]+(_[a-z]+)*$/.test(label) || [...targetLabels, 'phone', 'key', 'ip'].includes(label),
        )
      );
    });
    expect(wrong.map(([name]) => name)).toEqual([]);
  });

  it('is set or counted somewhere', () => {
    const text = productSources
      .filter((path) => path !== 'runtime/metrics/metric-table.ts')
      .map(readProjectFile)
      .join('\n');
    expect(table.filter(([name]) => !text.includes(`'${name}'`)).map(([name]) => name)).toEqual([]);
  });

  it('has one row in docs/metrics.md with what the code says, and no row is of a metric that does not exist', () => {
    const rows = tableRows(readProjectFile('docs/metrics.md')).filter(([first]) => first?.startsWith('`caller_trust_'));
    const quoted = (labels: readonly string[]) => labels.map((label) => `\`${label}\``).join(', ');
    expect(rows.toSorted()).toEqual(
      table
        .map(([name, { kind, labels, processes, help }]) => [
          `\`${name}\``,
          kind,
          quoted(labels),
          processes.join(', '),
          help,
        ])
        .toSorted(),
    );
  });
});

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const panels = (JSON.parse(readProjectFile('deploy/monitoring/dashboard.json')) as { panels: Panel[] }).panels;
const queries = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly action: string };
}

const rules = (
  parse(readProjectFile('deploy/monitoring/alerts.yaml')) as { groups: { rules: Rule[] }[] }
).groups.flatMap(({ rules: each }) => each);

/** What an expression of PromQL names; Grafana replaces its variable by a duration. */
function readQuery(query: string): { faults: string[]; names: string[]; labels: string[] } {
  const text = query.replaceAll('$__rate_interval', '5m');
  const faults: string[] = [];
  const names: string[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to }) {
      const word = text.slice(from, to);
      if (type.isError) faults.push(`at ${from}: ${text.slice(from, from + 20)}`);
      if (type.name === 'Identifier') names.push(word);
      if (type.name === 'LabelName') labels.push(word);
    },
  });
  return { faults, names: names.filter((name) => name.startsWith('caller_trust_')), labels };
}

/** What is wrong with an expression. */
function problemsOf(query: string): string[] {
  const { faults, names, labels } = readQuery(query);
  const unknown = names.filter((name) => !series.has(name) && !ofEachProcess.test(name));
  const known = new Set([...targetLabels, ...names.flatMap((name) => series.get(name) ?? [])]);
  return [
    ...faults,
    ...(names.length === 0 ? ['no metric of the service'] : []),
    ...unknown.map((name) => `no metric ${name}`),
    ...labels.filter((label) => !known.has(label)).map((label) => `no label ${label}`),
  ];
}

it('a query with a name, a label or a word that does not exist is found', () => {
  expect(problemsOf('sum by (queue) (caller_trust_queue_jobs)')).toEqual([]);
  expect(problemsOf('caller_trust_queue_job')).toEqual(['no metric caller_trust_queue_job']);
  expect(problemsOf('sum by (country) (caller_trust_queue_jobs)')).toEqual(['no label country']);
  expect(problemsOf('caller_trust_job_seconds')).toEqual(['no metric caller_trust_job_seconds']);
  expect(problemsOf('sum by (queue (caller_trust_queue_jobs)')).not.toEqual([]);
  expect(problemsOf('up == 0')).toEqual(['no metric of the service']);
});

describe('deploy/monitoring/dashboard.json', () => {
  it('asks for metrics and labels that exist, in PromQL', () => {
    expect(queries.length).toBeGreaterThan(30);
    const wrong = queries.flatMap(({ title, expr }) => problemsOf(expr).map((problem) => `${title}: ${problem}`));
    expect(wrong).toEqual([]);
  });

  it('has legends of labels that its queries have', () => {
    const wrong = queries.flatMap(({ title, expr, legendFormat }) => {
      const { names, labels } = readQuery(expr);
      const known = [...targetLabels, ...labels, ...names.flatMap((name) => series.get(name) ?? [])];
      return [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)]
        .filter(([, label]) => !known.includes(label!))
        .map(([, label]) => `${title}: ${label}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('deploy/monitoring/alerts.yaml', () => {
  it('asks for metrics and labels that exist, in PromQL', () => {
    expect(rules.length).toBeGreaterThan(15);
    expect(rules.flatMap(({ alert, expr }) => problemsOf(expr).map((problem) => `${alert}: ${problem}`))).toEqual([]);
  });

  it('says of each alert how urgent it is, what is so, and what to do', () => {
    const wrong = rules.filter(
      ({ labels: { severity }, annotations: { summary, action } }) =>
        !['page', 'ticket'].includes(severity) || !/[.]$/.test(summary) || !/[.]$/.test(action),
    );
    expect(wrong.map(({ alert }) => alert)).toEqual([]);
    const names = rules.map(({ alert }) => alert);
    expect(new Set(names).size).toBe(names.length);
  });

  it('has a unit test of each alert, for when it fires and for when it does not', () => {
    const { tests } = parse(readProjectFile('deploy/monitoring/alerts.test.yml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: object[] }[] }[];
    };
    const cases = tests.flatMap(({ alert_rule_test: each }) => each);
    const tested = (fires: boolean) => new Set(cases.filter(({ exp_alerts: alerts }) => (alerts !== undefined) === fires).map(({ alertname }) => alertname)); // prettier-ignore
    const names = rules.map(({ alert }) => alert).toSorted();
    for (const fires of [true, false]) expect([...tested(fires)].toSorted()).toEqual(names);
  });

  it('warns of signatures by the hours after which the service does', async () => {
    const { expirySoonHours } = await import('../../pipelines/caches/signing/signature-expiry.ts');
    const text = rules.map(({ expr }) => expr).join('\n');
    const limits = [...text.matchAll(/role="(\w+)"\}\) - time\(\) < (?:(\d+) \* )?(\d+)/g)].map(
      ([, role, factor = '1', seconds]) => [role, (Number(factor) * Number(seconds)) / 3600],
    );
    expect(Object.fromEntries(limits)).toEqual(expirySoonHours);
  });
});
