import type { LeastRole, Role } from '../answers/session-answers.ts';
import { mayActAs } from './shell/roles.ts';
import { Link } from './shell/router.ts';
import { html, type ComponentType, type VNode } from './shell/view.ts';
import { WaitingCount } from './letters/waiting-count.ts';

/** A section of the navigation. */
interface NavigationPart {
  readonly title: string;
  readonly links: readonly {
    readonly href: string;
    readonly text: string;
    /** Least role that may open it; by default every user except agencies. */
    readonly role?: LeastRole;
    /** True for pages that agencies may open too. */
    readonly isForAgencies?: boolean;
    /** Shown after the text, such as the number of pending decisions. */
    readonly mark?: ComponentType;
  }[];
}

/** In the order of an operator's day. */
const navigation: readonly NavigationPart[] = [
  {
    title: 'Nights',
    links: [
      { href: '/', text: 'Overview' },
      { href: '/nights', text: 'Nights' },
      { href: '/artefacts', text: 'Artefacts' },
    ],
  },
  {
    title: 'Numbers',
    links: [
      { href: '/numbers', text: 'Numbers' },
      { href: '/disputes', text: 'Disputes', role: 'reviewer' },
      { href: '/feeds', text: 'Feeds' },
    ],
  },
  {
    title: 'Branding',
    links: [
      { href: '/review', text: 'Review desk', role: 'reviewer', mark: WaitingCount },
      { href: '/brands', text: 'Brands', isForAgencies: true },
      { href: '/letters', text: 'Letters', isForAgencies: true },
      { href: '/operations', text: 'Requests', isForAgencies: true },
    ],
  },
  {
    title: 'Voices',
    links: [
      { href: '/verifications', text: 'Verifications' },
      { href: '/batches', text: 'Batches' },
      { href: '/detect', text: 'AI Voice Detection', role: 'reviewer' },
      { href: '/voices', text: 'Voice Authentication' },
      { href: '/models', text: 'Models' },
    ],
  },
  {
    title: 'Service',
    links: [
      { href: '/queues', text: 'Queues', role: 'operator' },
      { href: '/webhooks', text: 'Webhooks' },
      { href: '/audit', text: 'Audit trail', role: 'operator' },
    ],
  },
];

/** The navigation of a role. */
export function navigationFor(role: Role): NavigationPart[] {
  const parts = navigation.map(({ title, links }) => ({
    title,
    links: links.filter(({ isForAgencies = false, role: least = 'viewer' }) =>
      role === 'agency' ? isForAgencies : mayActAs(role, least),
    ),
  }));
  return parts.filter(({ links }) => links.length > 0);
}

/** A link of the navigation. */
export function NavigationLink({
  link: { href, text, mark },
  isCurrent = false,
}: {
  link: NavigationPart['links'][number];
  isCurrent?: boolean;
}): VNode {
  return html`<${Link} href=${href} current=${isCurrent}>${text}${mark ? html`<${mark} />` : null}</${Link}>`;
}
