import type { LeastRole, Role } from '../answers/session-answers.ts';
import { mayActAs } from './shell/roles.ts';
import type { Route } from './shell/router.ts';
import type { ComponentType } from './shell/view.ts';
import { WaitingCount } from './letters/waiting-count.ts';

/** Every page of the console. */
export const routes: readonly Route[] = [
  { path: '/', load: () => import('./overview-page.ts') },
  { path: '/verifications', load: () => import('./recordings/verifications-page.ts') },
  { path: '/verifications/:id', load: () => import('./recordings/verification-page.ts') },
  { path: '/batches', load: () => import('./recordings/batches-page.ts') },
  { path: '/batches/:id', load: () => import('./recordings/batch-page.ts') },
  { path: '/detect', load: () => import('./recordings/detect-page.ts') },
  { path: '/nights', load: () => import('./nights/nights-page.ts') },
  { path: '/nights/:run', load: () => import('./nights/night-page.ts') },
  { path: '/artefacts', load: () => import('./nights/artefacts-page.ts') },
  { path: '/artefacts/:cache/:country', load: () => import('./nights/artefact-page.ts') },
  { path: '/numbers', load: () => import('./numbers/numbers-page.ts') },
  { path: '/disputes', load: () => import('./numbers/disputes-page.ts') },
  { path: '/disputes/:id', load: () => import('./numbers/dispute-page.ts') },
  { path: '/feeds', load: () => import('./numbers/feeds-page.ts') },
  { path: '/feeds/:id', load: () => import('./numbers/feed-page.ts') },
  { path: '/brands', load: () => import('./brands/brands-page.ts') },
  { path: '/new-brand', load: () => import('./brands/brand-new-page.ts') },
  { path: '/brands/:handle', load: () => import('./brands/brand-page.ts') },
  { path: '/brands/:handle/update', load: () => import('./brands/brand-update-page.ts') },
  { path: '/letters', load: () => import('./letters/letters-page.ts') },
  { path: '/letters/:id', load: () => import('./letters/letter-page.ts') },
  { path: '/review', load: () => import('./letters/review-page.ts') },
  { path: '/review/letters/:id', load: () => import('./letters/review-letter-page.ts') },
  { path: '/operations', load: () => import('./brands/operations-page.ts') },
  { path: '/operations/:id', load: () => import('./brands/operation-page.ts') },
  { path: '/voices', load: () => import('./voices/voices-page.ts') },
  { path: '/voices/:id', load: () => import('./voices/voice-page.ts') },
  { path: '/models', load: () => import('./voices/models-page.ts') },
  { path: '/models/voiceprint', load: () => import('./voices/model-voiceprint-page.ts') },
  { path: '/models/:family/:version', load: () => import('./voices/model-page.ts') },
  { path: '/drift/:report', load: () => import('./voices/model-drift-page.ts') },
  { path: '/queues', load: () => import('./service/queues-page.ts') },
  { path: '/audit', load: () => import('./service/audit-page.ts') },
];

/** A section of the navigation. */
export interface NavigationPart {
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
