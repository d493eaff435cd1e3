import { Page } from './shell/components.ts';
import { NavigationLink } from './layout.ts';
import { currentSession } from './shell/request.ts';
import { navigationFor } from './routes.ts';
import { html, type VNode } from './shell/view.ts';

/** The start page: the parts of the console. */
export default function StartPage(): VNode {
  const { user } = currentSession();
  return html`<${Page} title="Caller Trust" lead=${`You are ${user.name}, ${user.role === 'operator' ? 'an operator' : user.role === 'agency' ? `of an agency that acts for ${user.owners.join(', ')}` : `a ${user.role}`}.`}>
    <div class="cards">${navigationFor(user.role).map(({ title, links }) => html`<section class="card"><h2>${title}</h2><ul class="plain">${links.map((link) => html`<li><${NavigationLink} link=${link} /></li>`)}</ul></section>`)}</div>
  </${Page}>`;
}
