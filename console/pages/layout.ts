import type { Json } from '../answers/json.ts';
import type { Session } from '../answers/session-answers.ts';
import { ActionButton, Empty, Page, ProblemNotice } from './shell/components.ts';
import { asProblem, sendJson, type Problem } from './shell/request.ts';
import { Link, matchRoute, PlaceProvider, useAddress } from './shell/router.ts';
import { NavigationLink, navigationFor } from './navigation.ts';
import { routes } from './routes.ts';
import { SearchBox } from './search-box.ts';
import { Shortcuts } from './shortcuts.ts';
import { Component, html, useEffect, useState, type Shown, type VNode } from './shell/view.ts';

/** The frame of every page: navigation, the user, and the page itself. */
export function Layout({ session, onLeave }: { session: Json<Session>; onLeave: () => void }): VNode {
  const place = useAddress();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.path]);
  const leave = async () => {
    await sendJson('DELETE', '/api/session'); // a failure is shown, and the session stays open
    onLeave();
  };
  return html`<div class="frame">
    <a class="skip" href="#content">Skip to the page</a>
    <header class="bar">
      <button type="button" class="menu" aria-expanded=${isOpen ? 'true' : 'false'} aria-controls="navigation" onClick=${() => setOpen(!isOpen)}>Menu</button>
      <${Link} href="/" class="brand-mark">Caller Trust</${Link}>
      ${session.user.role === 'agency' ? null : html`<${SearchBox} />`}
      <span class="who">${session.user.name} <span class="role">${session.user.role}</span></span>
      <${Shortcuts} role=${session.user.role} />
      <${ActionButton} busyText="Logging out …" act=${leave}>Log out</${ActionButton}>
    </header>
    <nav id="navigation" class=${isOpen ? 'navigation open' : 'navigation'} aria-label="Parts of the console">
      ${navigationFor(session.user.role).map(
        ({ title, links }) => html`<div class="navigation-part"><h2>${title}</h2><ul>
        ${links.map((link) => html`<li><${NavigationLink} link=${link} isCurrent=${place.path === link.href || (link.href !== '/' && place.path.startsWith(`${link.href}/`))} /></li>`)}
      </ul></div>`,
      )}
    </nav>
    <main id="content" tabindex="-1"><${PlaceProvider} value=${place}><${FaultBoundary} key=${place.path}><${CurrentPage} path=${place.path} query=${place.query} /></${FaultBoundary}></${PlaceProvider}></main>
  </div>`;
}

/** Shows a fault of a page in its place; the rest of the console keeps working. */
class FaultBoundary extends Component<{ children?: Shown }, { problem: Problem | null }> {
  override state = { problem: null };

  override componentDidCatch(error: unknown): void {
    this.setState({ problem: asProblem(error) });
  }

  override render(): Shown {
    const { problem } = this.state;
    return problem === null
      ? this.props.children
      : html`<${ProblemNotice} problem=${problem} onAgain=${() => this.setState({ problem: null })} />`;
  }
}

/** The page of a path. */
function CurrentPage({ path, query }: { path: string; query: URLSearchParams }): VNode {
  const match = matchRoute(routes, path);
  if (match === undefined)
    return html`<${Page} title="No such page"><${Empty} title=${`There is no page ${path}.`}>The navigation leads to every page.</${Empty}></${Page}>`;
  return html`<${match.route.page} key=${path} params=${match.params} query=${query} />`;
}
