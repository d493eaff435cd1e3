import {
  createContext,
  html,
  useContext,
  useEffect,
  useState,
  type ComponentType,
  type Shown,
  type VNode,
} from './view.ts';

/** The parameters of a page's path, and its query. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** A page of the console. */
export interface Route {
  /** `/nights/:run` */
  readonly path: string;
  readonly page: ComponentType<PageProps>;
}

/** The current path and query. */
interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const PlaceContext = createContext<Place>({ path: '/', query: new URLSearchParams() });
export const PlaceProvider = PlaceContext.Provider;

const moved = 'console-moved';

/** The place in the address bar; follows changes. */
export function useAddress(): Place {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const follow = () => setPlace(readPlace());
    window.addEventListener('popstate', follow);
    window.addEventListener(moved, follow);
    return () => {
      window.removeEventListener('popstate', follow);
      window.removeEventListener(moved, follow);
    };
  }, []);
  return place;
}

function readPlace(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** The place of the shown page. */
export function usePlace(): Place {
  return useContext(PlaceContext);
}

/** Navigates without reloading the document. */
export function goTo(href: string, { replace = false }: { replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  window.dispatchEvent(new Event(moved));
  if (!replace) window.scrollTo(0, 0);
}

/** Changes query parameters; empty ones are removed. */
export function withQuery(place: Place, changes: Record<string, string | null>): string {
  const query = new URLSearchParams(place.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text === '' ? place.path : `${place.path}?${text}`;
}

/** A link to another page. */
export function Link({
  href,
  children,
  class: name,
  current,
}: {
  href: string;
  children?: Shown;
  class?: string;
  current?: boolean;
}): VNode {
  const follow = (event: MouseEvent) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    goTo(href);
  };
  return html`<a href=${href} class=${name ?? ''} aria-current=${current ? 'page' : undefined} onClick=${follow}>${children}</a>`;
}

/** The route of a path with its parameters; undefined also for an invalid escape. */
export function matchRoute(
  routes: readonly Route[],
  path: string,
): { route: Route; params: Record<string, string> } | undefined {
  for (const route of routes) {
    const params = matchPath(route.path, path);
    if (params !== undefined) return { route, params };
  }
  return undefined;
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.replace(/\/$/, '').split('/')];
  if (pattern === '/' ? path !== '/' : wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    if (part.startsWith(':')) {
      const value = decoded(given[at]!);
      if (value === undefined) return undefined;
      params[part.slice(1)] = value;
    }
    if (!part.startsWith(':') && part !== given[at] && pattern !== '/') return undefined;
  }
  return params;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
