import type { Route } from './shell/router.ts';
import OverviewPage from './overview-page.ts';
import VerificationsPage from './recordings/verifications-page.ts';
import VerificationPage from './recordings/verification-page.ts';
import BatchesPage from './recordings/batches-page.ts';
import BatchPage from './recordings/batch-page.ts';
import DetectPage from './recordings/detect-page.ts';
import NightsPage from './nights/nights-page.ts';
import NightPage from './nights/night-page.ts';
import ArtefactsPage from './nights/artefacts-page.ts';
import ArtefactPage from './nights/artefact-page.ts';
import NumbersPage from './numbers/numbers-page.ts';
import DisputesPage from './numbers/disputes-page.ts';
import DisputePage from './numbers/dispute-page.ts';
import FeedsPage from './numbers/feeds-page.ts';
import FeedPage from './numbers/feed-page.ts';
import BrandsPage from './brands/brands-page.ts';
import BrandNewPage from './brands/brand-new-page.ts';
import BrandPage from './brands/brand-page.ts';
import BrandUpdatePage from './brands/brand-update-page.ts';
import LettersPage from './letters/letters-page.ts';
import LetterPage from './letters/letter-page.ts';
import ReviewPage from './letters/review-page.ts';
import ReviewLetterPage from './letters/review-letter-page.ts';
import OperationsPage from './brands/operations-page.ts';
import OperationPage from './brands/operation-page.ts';
import VoicesPage from './voices/voices-page.ts';
import VoicePage from './voices/voice-page.ts';
import ModelsPage from './voices/models-page.ts';
import ModelVoiceprintPage from './voices/model-voiceprint-page.ts';
import ModelPage from './voices/model-page.ts';
import ModelDriftPage from './voices/model-drift-page.ts';
import QueuesPage from './service/queues-page.ts';
import WebhooksPage from './service/webhooks-page.ts';
import AuditPage from './service/audit-page.ts';

/** Every page of the console. */
export const routes: readonly Route[] = [
  { path: '/', page: OverviewPage },
  { path: '/verifications', page: VerificationsPage },
  { path: '/verifications/:id', page: VerificationPage },
  { path: '/batches', page: BatchesPage },
  { path: '/batches/:id', page: BatchPage },
  { path: '/detect', page: DetectPage },
  { path: '/nights', page: NightsPage },
  { path: '/nights/:run', page: NightPage },
  { path: '/artefacts', page: ArtefactsPage },
  { path: '/artefacts/:cache/:country', page: ArtefactPage },
  { path: '/numbers', page: NumbersPage },
  { path: '/disputes', page: DisputesPage },
  { path: '/disputes/:id', page: DisputePage },
  { path: '/feeds', page: FeedsPage },
  { path: '/feeds/:id', page: FeedPage },
  { path: '/brands', page: BrandsPage },
  { path: '/new-brand', page: BrandNewPage },
  { path: '/brands/:handle', page: BrandPage },
  { path: '/brands/:handle/update', page: BrandUpdatePage },
  { path: '/letters', page: LettersPage },
  { path: '/letters/:id', page: LetterPage },
  { path: '/review', page: ReviewPage },
  { path: '/review/letters/:id', page: ReviewLetterPage },
  { path: '/operations', page: OperationsPage },
  { path: '/operations/:id', page: OperationPage },
  { path: '/voices', page: VoicesPage },
  { path: '/voices/:id', page: VoicePage },
  { path: '/models', page: ModelsPage },
  { path: '/models/voiceprint', page: ModelVoiceprintPage },
  { path: '/models/:family/:version', page: ModelPage },
  { path: '/drift/:report', page: ModelDriftPage },
  { path: '/queues', page: QueuesPage },
  { path: '/webhooks', page: WebhooksPage },
  { path: '/audit', page: AuditPage },
];
