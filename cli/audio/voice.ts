import { resolve } from 'node:path';
import type { Command } from 'commander';
import { loadRegistry } from '../../pipelines/audio/models/registry.ts';
import { requireModels } from '../../pipelines/audio/models/named-model.ts';
import { openScoringPool, type ScoringPool } from '../../pipelines/audio/scorers/scoring-pool.ts';
import { enrolVoiceprint, type Enrolled, type VoiceWork } from '../../pipelines/audio/voices/voice-enrolment.ts';
import { openVoiceModel } from '../../pipelines/audio/voices/voice-model.ts';
import { verifyVoice, type VoiceVerificationResult } from '../../pipelines/audio/voices/voice-verification.ts';
import {
  deleteVoiceprint,
  listVoiceprintEvents,
  listVoiceprints,
  readVoiceprint,
  type Consent,
  type VoiceprintEvent,
  type VoiceprintRecord,
} from '../../pipelines/audio/voices/voiceprint-store.ts';
import { openVault } from '../../runtime/secrets/vault.ts';
import type { Services } from '../../runtime/services/services.ts';
import { currentActor, interruption, runWith, type Outcome } from '../command.ts';
import { formatParagraphs, formatFacts, formatTable, formatTime } from '../table.ts';
import { parseCount, parseInstant } from '../options.ts';
import { readableLog } from '../readable-log.ts';

interface EnrolOptions {
  readonly subject: string;
  readonly owner: string;
  readonly consent?: string;
  readonly consentAt?: Date;
  readonly by?: string;
  readonly voiceprintModel?: string;
}

interface VerifyOptions {
  readonly model: string;
  readonly by?: string;
  readonly voiceprintModel?: string;
}

interface ListOptions {
  readonly owner?: string;
  readonly deleted?: boolean;
  readonly limit: number;
}

/** `voice enrol|verify|list|show|delete`. */
export function addVoiceCommands(voice: Command): void {
  addComparingCommands(voice);
  addKeepingCommands(voice);
}

function addComparingCommands(voice: Command): void {
  voice
    .command('enrol')
    .description('make a voiceprint of three and more recordings of one person; the recordings are not kept')
    .argument('<file...>', 'the recordings, of this person alone')
    .requiredOption('--subject <reference>', 'what the client calls the person: a reference, not a name')
    .requiredOption('--owner <client>', 'whose voiceprint it is, as API keys name the client')
    .option('--consent <reference>', 'where the consent of the person is kept; without it nothing is enrolled')
    .option('--consent-at <time>', 'when it was given', parseInstant)
    .option('--by <name>', 'who enters it')
    .option('--voiceprint-model <directory>', 'a voiceprint model of your own: its manifest.json and weights')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust voice enrol a.wav b.wav c.wav --subject customer-4711 --owner acme-bank --consent 'form 2026-118' --consent-at 2026-11-02",
    )
    .action(runWith(enrolCommand));
  voice
    .command('verify')
    .description('compare a recording with a voiceprint: identity, synthesis and replay; fails unless it is a match')
    .argument('<voiceprint>', 'id of the voiceprint')
    .argument('<file>', 'the recording, which is not kept')
    .option('--model <model>', 'model of authenticity: phone/v8, phone, digital, auto', 'auto')
    .option('--by <name>', 'who asks')
    .option('--voiceprint-model <directory>', 'the voiceprint model of your own that it was enrolled with')
    .addHelpText('after', '\nExample:\n  caller-trust voice verify 0b6c4dc2-1f6a-4c2b-9d92-3fbe2d7fa001 call.wav')
    .action(runWith(verifyCommand));
}

function addKeepingCommands(voice: Command): void {
  voice
    .command('list')
    .description('list voiceprints, newest first')
    .option('--owner <client>', 'only those of this client')
    .option('--deleted', 'also deleted ones')
    .option('--limit <n>', 'at most this many', parseCount, 100)
    .addHelpText('after', '\nExample:\n  caller-trust voice list --owner acme-bank')
    .action(runWith(listCommand));
  voice
    .command('show')
    .description('show a voiceprint with its consent and its audit trail; never the voice')
    .argument('<voiceprint>', 'id of the voiceprint')
    .addHelpText('after', '\nExample:\n  caller-trust voice show 0b6c4dc2-1f6a-4c2b-9d92-3fbe2d7fa001')
    .action(runWith(showCommand));
  voice
    .command('delete')
    .description('destroy the key and the bytes of a voiceprint permanently; consent and audit trail stay')
    .argument('<voiceprint>', 'id of the voiceprint')
    .requiredOption('--reason <text>', 'why, kept in the audit trail')
    .option('--by <name>', 'who deletes it')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust voice delete 0b6c4dc2-1f6a-4c2b-9d92-3fbe2d7fa001 --reason 'Consent withdrawn, ticket 4711'",
    )
    .action(runWith(deleteCommand));
}

async function enrolCommand(
  services: Services,
  files: readonly string[],
  { subject, owner, consent, consentAt, by = currentActor(), voiceprintModel }: EnrolOptions,
): Promise<Outcome> {
  const given: Partial<Consent> = {
    ...(consent === undefined ? {} : { reference: consent }),
    ...(consentAt === undefined ? {} : { at: consentAt }),
    recordedBy: by,
  };
  return withVoiceWork(services, voiceprintModel, async (work) => {
    const enrolled = await enrolVoiceprint(work, {
      subject,
      owner,
      consent: given,
      files: files.map((file) => resolve(file)),
    });
    return { json: enrolled, text: formatEnrolled(enrolled) };
  });
}

async function verifyCommand(
  services: Services,
  id: string,
  file: string,
  { model, by = currentActor(), voiceprintModel }: VerifyOptions,
): Promise<Outcome> {
  return withVoiceWork(services, voiceprintModel, async (work) => {
    const authenticity = requireModels(await loadRegistry(services.db, services.config), model);
    const result = await verifyVoice({ ...work, authenticity }, { id, file: resolve(file), actor: by });
    return {
      json: { ...result, scoreDirection: 'higher-is-authentic' },
      text: formatVerification(result),
      failed: result.label !== 'match',
    };
  });
}

/** Opens the vault, the voiceprint model and the scoring processes for one command. */
async function withVoiceWork<Result>(
  { db, config, log }: Services,
  directory: string | undefined,
  work: (work: VoiceWork & { pool: ScoringPool }) => Promise<Result>,
): Promise<Result> {
  const [model, vault] = [
    await openVoiceModel(directory === undefined ? undefined : resolve(directory)),
    await openVault(config),
  ];
  const pool = openScoringPool({ config, log: readableLog(log) });
  try {
    return await work({ db, vault, model, pool, limits: config, signal: interruption.signal, now: () => new Date() });
  } finally {
    await pool.close();
  }
}

async function listCommand({ db }: Services, { owner, deleted = false, limit }: ListOptions): Promise<Outcome> {
  const voiceprints = await listVoiceprints(db, { owner, withDeleted: deleted, limit });
  return {
    json: voiceprints,
    text: voiceprints.length === 0 ? 'There is no such voiceprint.' : formatVoiceprints(voiceprints),
  };
}

async function showCommand({ db }: Services, id: string): Promise<Outcome> {
  const [voiceprint, events] = [await readVoiceprint(db, id), await listVoiceprintEvents(db, id)];
  return {
    json: { ...voiceprint, events },
    text: formatParagraphs(formatVoiceprint(voiceprint), formatEvents(events)),
  };
}

async function deleteCommand(
  { db }: Services,
  id: string,
  { reason, by = currentActor() }: { reason: string; by?: string },
): Promise<Outcome> {
  const { deletedAt } = await deleteVoiceprint(db, id, { reason, actor: by });
  const text = `Voiceprint ${id} is deleted: its key and its bytes are destroyed. Backups and the write-ahead log made before hold them until they age out; docs/voiceprints.md says more.`;
  return { json: { id, deletedAt }, text };
}

function formatEnrolled({ id, subject, owner, model, recordings, voiceSeconds, agreement, consent }: Enrolled): string {
  return formatFacts([
    ['voiceprint', id],
    ['subject', subject],
    ['owner', owner],
    ['model', model],
    ['recordings', recordings],
    ['voice', `${voiceSeconds.toFixed(1)} s`],
    ['agreement', `${agreement.mean.toFixed(2)} on average, ${agreement.least.toFixed(2)} at least`],
    ['consent', formatConsent(consent)],
  ]);
}

function formatVerification(result: VoiceVerificationResult): string {
  const { identity, scores, thresholds } = result;
  const facts = formatFacts([
    ['subject', result.subject],
    [
      'identity',
      identity === null
        ? `none: ${result.identityReason}`
        : `${identity.toFixed(3)} (match from ${result.identityThreshold}, mismatch below ${result.mismatchThreshold})`,
    ],
    [
      'voice',
      `${result.voiceSeconds === null ? 'none' : `${result.voiceSeconds.toFixed(1)} s`}, enrolled ${result.enrolledSeconds.toFixed(1)} s`,
    ],
    ['synthesis', formatScore(scores?.synthesis, thresholds?.synthesis, result.authenticityReason)],
    ['replay', formatScore(scores?.replay, thresholds?.replay, result.authenticityReason)],
    ['models', [result.voiceModel, result.model].filter((model) => model !== null).join(', ')],
    ['result', result.undecidedReason === null ? result.label : `${result.label}: ${result.undecidedReason}`],
    ['verification', result.verificationId],
  ]);
  return formatParagraphs(facts, result.advice);
}

function formatScore(
  score: number | null | undefined,
  threshold: number | null | undefined,
  reason: string | null,
): string {
  if (score === null || score === undefined) return reason === null ? 'the model has no such score' : `none: ${reason}`;
  return `${score.toFixed(3)} (threshold ${threshold}, higher is authentic)`;
}

function formatVoiceprints(voiceprints: readonly VoiceprintRecord[]): string {
  return formatTable(voiceprints, [
    { title: 'voiceprint', value: ({ id }) => id },
    { title: 'owner', value: ({ owner }) => owner },
    { title: 'subject', value: ({ subject }) => subject },
    { title: 'recordings', value: ({ recordings }) => recordings },
    { title: 'model', value: ({ model }) => model },
    { title: 'enrolled', value: ({ enrolledAt }) => formatTime(enrolledAt) },
    { title: 'deleted', value: ({ deletedAt }) => formatTime(deletedAt) },
  ]);
}

function formatVoiceprint(voiceprint: VoiceprintRecord): string {
  return formatFacts([
    ['voiceprint', voiceprint.id],
    ['owner', voiceprint.owner],
    ['subject', voiceprint.subject],
    ['model', voiceprint.model],
    ['recordings', voiceprint.recordings],
    ['voice', `${voiceprint.voiceSeconds.toFixed(1)} s`],
    ['consent', formatConsent(voiceprint.consent)],
    ['enrolled', formatTime(voiceprint.enrolledAt)],
    ['compared', `${voiceprint.verifications} times`],
    ['deleted', voiceprint.deletedAt && `${formatTime(voiceprint.deletedAt)}: ${voiceprint.deletedWhy}`],
  ]);
}

function formatEvents(events: readonly VoiceprintEvent[]): string {
  return formatTable(events, [
    { title: 'when', value: ({ at }) => formatTime(at) },
    { title: 'what', value: ({ action }) => action },
    { title: 'who', value: ({ actor }) => actor },
    { title: 'why', value: ({ reason }) => reason },
  ]);
}

function formatConsent({ reference, at, recordedBy }: Consent): string {
  return `${reference}, given ${formatTime(at)}, entered by ${recordedBy}`;
}
