import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import type {
  AppControllerRoute,
  BoardHooks,
  BullBoardQueues,
  IServerAdapter,
  UIConfig,
} from '@bull-board/api/typings/app';
import { boardQueues } from '../../jobs/queue-board.ts';
import type { Queues } from '../../jobs/queues/backend.ts';
import { securityHeaders } from '../http/security-headers.ts';

/** Where the board is. */
export const boardPath = '/queues';

/** A request to the board, as its handlers take it. */
export interface BoardRequest {
  readonly query: Record<string, unknown>;
  readonly params: Record<string, string>;
  readonly body: Record<string, unknown>;
}

/** A route of the board's own HTTP interface. */
export interface BoardRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below {@link boardPath}: `/api/queues/:queueName/pause`. */
  readonly path: string;
  readonly answer: (request: BoardRequest) => Promise<{ readonly status: number; readonly body: unknown }>;
}

/** The board of the queues: its routes, the paths at which its one page is, that page, and the files that it loads. */
export interface QueueBoard {
  readonly routes: readonly BoardRoute[];
  readonly pagePaths: readonly string[];
  readonly page: string;
  /** Content by path below {@link boardPath}. */
  readonly files: ReadonlyMap<string, () => Buffer>;
}

const require = createRequire(import.meta.url);

/** What the page of the board is told: nothing that leads to an outside address, and the way back. */
const uiConfig: UIConfig = {
  boardTitle: 'Queues',
  boardLogo: { path: '/pages/icon.svg', width: 24, height: 24 },
  favIcon: { default: '/pages/icon.svg', alternative: '/pages/icon.svg' },
  miscLinks: [{ text: 'Back to the console', url: '/' }],
  hideDocsLink: true,
  locale: { lng: 'en-US' },
};

/**
 * What the board offers and the console refuses: the service alone makes jobs, whose payloads name rows of its database, and a queue that
 * was removed with all its keys would be gone for the jobs in hand too.
 */
const refused = /\/(add|update-data|obliterate)$/;

const hooks: BoardHooks = {
  before: ({ route }) =>
    refused.test(route)
      ? {
          allow: false,
          status: 403,
          message:
            'The console does not allow this: the service alone makes its jobs. Run the night, batch or request again.',
        }
      : undefined,
};

/** Takes in what the board is made of, instead of one of the library's own adapters: they load fonts from elsewhere and need inline styles. */
class BoardParts implements IServerAdapter {
  queues: BullBoardQueues = new Map();
  apiRoutes: AppControllerRoute[] = [];
  entryPaths: string[] = [];
  staticDirectory = '';
  config: UIConfig = {};

  setQueues(queues: BullBoardQueues): this {
    this.queues = queues;
    return this;
  }

  setViewsPath(): this {
    return this; // its page needs what the policy of the console refuses: pageOf makes one that does not
  }

  setStaticPath(_route: string, directory: string): this {
    this.staticDirectory = directory;
    return this;
  }

  setEntryRoute({ route }: { route: string | string[] }): this {
    this.entryPaths = [route].flat();
    return this;
  }

  setErrorHandler(): this {
    return this; // the console has its own, which tells no cause
  }

  setApiRoutes(routes: AppControllerRoute[]): this {
    this.apiRoutes = routes;
    return this;
  }

  setUIConfig(config: UIConfig): this {
    this.config = config;
    return this;
  }
}

/** The board of the queues, on either backend. */
export function createQueueBoard(queues: Queues): QueueBoard {
  const uiBasePath = dirname(require.resolve('@bull-board/ui/package.json'));
  const parts = new BoardParts();
  createBullBoard({
    queues: boardQueues(queues),
    serverAdapter: parts,
    options: { uiBasePath, uiConfig, handlerHooks: hooks },
  });
  return {
    routes: parts.apiRoutes.flatMap((route) => routesOf(route, parts)),
    pagePaths: parts.entryPaths,
    page: pageOf(readFileSync(join(uiBasePath, 'dist', 'index.ejs'), 'utf8'), parts.config),
    files: filesIn(parts.staticDirectory),
  };
}

function routesOf({ method, route, handler }: AppControllerRoute, parts: BoardParts): BoardRoute[] {
  const answer: BoardRoute['answer'] = async (request) => {
    const answered = await handler({ ...request, queues: parts.queues, uiConfig: parts.config, headers: {} }); // what it throws is answered and logged as any other error
    return { status: answered.status ?? 200, body: answered.body };
  };
  return [method]
    .flat()
    .flatMap((each) =>
      [route].flat().map((path) => ({ method: each.toUpperCase() as BoardRoute['method'], path, answer })),
    );
}

/**
 * The page of the board: the styles and scripts that the library's own page names, and nothing else of it. Left out are the fonts of
 * another host, and what is shown until the scripts run, which has inline styles.
 */
function pageOf(template: string, config: UIConfig): string {
  const styles = [...template.matchAll(/<link href="(static\/css\/[\w.-]+\.css)" rel="stylesheet">/g)].map(
    ([, path]) => path!,
  );
  const scripts = [...template.matchAll(/<script defer src="(static\/js\/[\w.-]+\.js)"><\/script>/g)].map(
    ([, path]) => path!,
  );
  if (styles.length === 0 || scripts.length === 0)
    throw new Error('the page of @bull-board/ui names no styles or scripts');
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<base href="${boardPath}/">`,
    `<title>${config.boardTitle} · Caller Trust</title>`,
    '<link rel="icon" href="/pages/icon.svg" type="image/svg+xml">',
    ...styles.map((path) => `<link rel="stylesheet" href="${boardPath}/${path}">`),
    '<link rel="stylesheet" href="/pages/queue-board.css">',
    ...scripts.map((path) => `<script defer src="${boardPath}/${path}"></script>`),
    '</head>',
    '<body>',
    `<script id="__UI_CONFIG__" type="application/json">${JSON.stringify(config).replaceAll('<', '\\u003c')}</script>`,
    '<a class="back-to-console" href="/">Back to the console</a>',
    '<div id="root"><p>Loading the queues …</p></div>',
    '<noscript><p>The queues need JavaScript, which this browser has switched off.</p></noscript>',
    '</body>',
    '</html>',
  ].join('\n');
}

/** What the scripts of the board load: not their licences and maps. */
const servedEndings = new Set(['.js', '.css', '.json', '.svg', '.png', '.ico']);

function filesIn(directory: string): Map<string, () => Buffer> {
  const names = readdirSync(directory, { recursive: true }).map((name) => String(name).replaceAll('\\', '/'));
  return new Map(
    names
      .filter((name) => servedEndings.has(extname(name)))
      .map((name) => [`/static/${name}`, () => withoutHints(name, readFileSync(join(directory, name)))]),
  );
}

/** Its scripts ask browsers to load scripts early that most pages never use, of which browsers then warn. */
function withoutHints(name: string, content: Buffer): Buffer {
  return extname(name) === '.js'
    ? Buffer.from(content.toString().replace(/\.rel="preload",(\w+\.as="script")/g, '.rel="",$1'))
    : content;
}

/** Style elements that the scripts of the board make, by their SHA-256: the colours of its picture of the datastore, and a list without a scroll bar. */
const boardStyles = [
  "'sha256-r2N1TB/gHbBtBZFKg7ejmq1acVSREzucTAEw6ga4hoU='",
  "'sha256-kLmvWqfziFavKtqHqRsb90f006UAK2Dmd0It5Iz2KFA='",
];

/**
 * The policy of the board's page: that of the console, but for these two styles, which never change within a version of the board, and
 * for its base element, from which its scripts read where they are.
 */
export const boardPolicy = securityHeaders['Content-Security-Policy']
  .replace("style-src 'self'", `style-src 'self' ${boardStyles.join(' ')}`)
  .replace("base-uri 'none'", "base-uri 'self'");
