import { beforeAll, describe, expect, it } from 'vitest';
import type { WebhookDeliveries, WebhookEndpoints } from '../../../console/answers/webhook-answers.ts';
import { failNight } from '../../../pipelines/caches/night/night-opening.ts';
import { addEndpoint } from '../../../pipelines/webhooks/endpoint.ts';
import { queryRow } from '../../../runtime/postgres.ts';
import { testVault } from '../../support/branding.ts';
import { findBarriers, noChromium, useBrowser } from '../support/browser.ts';
import { logIn, useConsole } from '../support/console-process.ts';

const running = await useConsole();
const browser = await useBrowser(running);
const { db } = running.database;

beforeAll(async () => {
  await addEndpoint(
    { db, vault: testVault },
    {
      name: 'ops',
      url: 'https://hooks.example.com/secret-path',
      brand: null,
      eventTypes: ['night.*'],
      actor: 'cli ada',
      limits: { webhookNetworksAllowed: undefined },
    },
  );
  const { id: runId } = (await queryRow<{ id: number }>(
    db,
    "INSERT INTO night_run (night_date, trigger, requested_by) VALUES ('2026-01-01', 'operator', 'test') RETURNING run_id AS id",
  ))!;
  await failNight(db, { runId, code: 'job_lost', reason: 'test' });
  await db.query(
    "UPDATE webhook_delivery SET state = 'failed', attempts = 12, next_attempt_at = NULL, last_attempt_at = now(), answer_status = 500, failure = 'status_refused'",
  );
});

describe('webhooks in the console', () => {
  it('are listed without the path of the address, and without secrets', async () => {
    const viewer = await logIn(running, 'viewer');
    const list = await viewer.fetch('/api/webhooks');
    const text = await list.text();
    expect(text).not.toMatch(/secret/);
    expect((JSON.parse(text) as WebhookEndpoints).endpoints).toMatchObject([
      { name: 'ops', origin: 'https://hooks.example.com', state: 'enabled', failed: 1, pending: 0 },
    ]);
    expect(await viewer.json<WebhookDeliveries>('/api/webhooks/deliveries?endpoint=ops&state=failed')).toMatchObject({
      deliveries: [
        {
          type: 'night.failed',
          attempts: 12,
          answerStatus: 500,
          subject: { text: 'Night 2026-01-01' },
          nextAttemptAt: null,
        },
      ],
      next: null,
    });
    expect(await viewer.json('/api/webhooks/deliveries?state=delivered')).toEqual({ deliveries: [], next: null });
  });

  it('are replayed, disabled and enabled by operators alone, and that is recorded', async () => {
    const { deliveryId } = (await queryRow<{ deliveryId: number }>(db, 'SELECT delivery_id FROM webhook_delivery'))!;
    const post = (client: Awaited<ReturnType<typeof logIn>>, path: string, body: object = {}) =>
      client.fetch(`/api/webhooks/ops/${path}`, { method: 'POST', body: JSON.stringify(body) });
    const replay = `deliveries/${deliveryId}/replay`;
    expect((await post(await logIn(running, 'reviewer'), replay)).status).toBe(403);
    const operator = await logIn(running, 'operator');
    expect((await post(operator, replay)).status).toBe(200);
    expect((await post(operator, 'deliveries/999/replay')).status).toBe(404);
    const state = async () =>
      (await queryRow<{ state: string; failure: string | null }>(db, 'SELECT state, failure FROM webhook_delivery'))!;
    expect(await state()).toEqual({ state: 'pending', failure: null });
    expect((await post(operator, 'disable', { reason: ' ' })).status).toBe(400);
    expect((await post(operator, 'disable', { reason: 'Moves' })).status).toBe(200);
    expect(await state()).toEqual({ state: 'failed', failure: 'endpoint_disabled' });
    expect((await post(operator, replay)).status).toBe(409);
    expect((await post(operator, 'enable')).status).toBe(200);
    const since = await post(operator, 'replay', { since: '2026-01-01T00:00:00Z' });
    expect(await since.json()).toEqual({ deliveries: 1 });
    expect((await post(operator, 'replay', { since: 'yesterday' })).status).toBe(400);
    const { rows } = await db.query<{ what: string }>(
      "SELECT action || ' ' || object AS what FROM console_event WHERE object LIKE 'webhook%' ORDER BY event_id",
    );
    expect(rows.map(({ what }) => what)).toEqual([
      `replay_webhooks webhook ops, delivery ${deliveryId}`,
      'change_webhook webhook ops: disable',
      'change_webhook webhook ops: enable',
      'replay_webhooks webhook ops',
    ]);
  });

  // A machine without Chromium skips this; .ci/run installs it.
  it.skipIf(noChromium)('have a page without barriers, on which an operator replays', async () => {
    await db.query("UPDATE webhook_delivery SET state = 'failed', next_attempt_at = NULL, failure = 'timed_out'");
    const page = await browser.open('/webhooks', { role: 'operator', width: 360, dark: true });
    const deliveries = page.getByRole('table', { name: 'Deliveries of webhooks' });
    await deliveries.getByText('did not answer in time').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await deliveries.getByRole('button', { name: 'Replay' }).click();
    await deliveries.getByText('pending').waitFor();
    const viewers = await browser.open('/webhooks', { role: 'viewer' });
    await viewers.getByText('night.failed').first().waitFor();
    expect(await viewers.getByRole('button', { name: /Replay|Disable|Send now/ }).count()).toBe(0);
  });
});
