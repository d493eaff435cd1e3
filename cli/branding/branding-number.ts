import type { Command } from 'commander';
import { changeNumber, type NumberPersonAction } from '../../pipelines/branding/brand/person-actions.ts';
import { requirePhone } from '../../pipelines/labels/number-record.ts';
import { addRequestOptions, runRequest, type RequestOptions } from './branding-request.ts';
import { currentActor, run, withServices, type Outcome } from '../command.ts';

type AddOptions = Omit<RequestOptions, 'numbers'> & { readonly file?: string; readonly callReason?: string };

const actions = {
  suspend: "take a verified number out of the next night's file",
  resume: 'undo the suspension of a number',
  reject: 'reject a number permanently: no brand can submit it again',
  remove: 'take a number from its brand',
} as const satisfies Record<NumberPersonAction, string>;

/** `number add|suspend|resume|reject|remove`. */
export function addBrandingNumberCommands(number: Command): void {
  const add = number
    .command('add')
    .description('Add Phone number for Branding: one, several, or a CSV')
    .argument('<handle>', 'the brand')
    .argument('[phone...]', 'numbers in international form')
    .option('--file <csv>', 'CSV of the numbers: a column `phone`, or numbers alone')
    .option('--call-reason <text>', 'reason for calls with these numbers, at most 50 characters')
    .option('--owner <client>', 'who makes the request; by default the owner of the brand');
  addRequestOptions(add)
    .addHelpText(
      'after',
      '\nExamples:\n  caller-trust number add acme +12125550123 --letter loa.pdf\n  caller-trust number add acme --file numbers.csv --key acme-2026-03',
    )
    .action(run(addNumbers));
  for (const [name, description] of Object.entries(actions) as [NumberPersonAction, string][]) {
    number
      .command(name)
      .description(description)
      .argument('<handle>', 'the brand')
      .argument('<phone>', 'number in international form')
      .requiredOption('--reason <text>', 'why, kept in the audit trail')
      .addHelpText('after', `\nExample:\n  caller-trust number ${name} acme +12125550123 --reason 'See ticket 4711'`)
      .action(
        run((handle: string, phone: string, options: { reason: string }) =>
          change(name, { handle, phone, reason: options.reason }),
        ),
      );
  }
}

function addNumbers(
  handle: string,
  numbers: readonly string[],
  { file, callReason, ...options }: AddOptions,
): Promise<Outcome> {
  const request = { handle, numbers, ...(callReason === undefined ? {} : { callReason }) };
  return runRequest(
    { kind: 'add_phone_number', fields: request, of: handle },
    { ...options, ...(file === undefined ? {} : { numbers: file }) },
  );
}

async function change(
  action: NumberPersonAction,
  { handle, phone: text, reason }: { handle: string; phone: string; reason: string },
): Promise<Outcome> {
  const phone = requirePhone(`${action} number`, text);
  return withServices(async ({ db, config }) => {
    const state = await changeNumber({ db, handle, phone, action, reason, actor: currentActor(), eyes: config });
    return { json: { handle, phone, state }, text: `${phone} is ${state} with ${handle}.` };
  });
}
