import type { AcceptedRequest } from '../../answers/operation-answers.ts';
import { useRequestKey } from '../shell/request-key.ts';
import { sendForm, type Problem } from '../shell/request.ts';
import { goTo } from '../shell/router.ts';
import { useState } from '../shell/view.ts';

/** A request for branding from a form. */
interface BrandingRequest {
  readonly kind: 'add_managed_brand' | 'update_managed_brand' | 'add_phone_number';
  readonly owner?: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly letter?: File | null;
  readonly numbers?: File | null;
}

/** The submission of a form's request. */
interface Submission {
  readonly isBusy: boolean;
  readonly problem: Problem | null;
  /** Problems by field name in the request: `displayName`, `contact.email`. */
  readonly wrong: ReadonlyMap<string, string>;
  readonly submit: (request: BrandingRequest) => Promise<void>;
}

/** Submits a form under one idempotency key. */
export function useSubmission(): Submission {
  const { key, explain } = useRequestKey({
    detail: 'This form was submitted before, and has been changed since.',
    hint: 'Press again to submit it as another request.',
  });
  const [state, setState] = useState<{ isBusy: boolean; problem: Problem | null }>({ isBusy: false, problem: null });
  const submit = async (request: BrandingRequest) => {
    setState({ isBusy: true, problem: null });
    try {
      const { operationId } = await sendForm<AcceptedRequest>('/api/operations', formOf(request, key));
      goTo(`/operations/${operationId}`);
    } catch (error) {
      setState({ isBusy: false, problem: explain(error) });
    }
  };
  return { ...state, wrong: wrongFields(state.problem), submit };
}

function formOf({ kind, owner = '', request, letter, numbers }: BrandingRequest, key: string): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ kind, owner, key, request: JSON.stringify(request) }))
    form.set(name, value);
  if (letter) form.set('letter', letter);
  if (numbers) form.set('numbers', numbers);
  return form;
}

/** Parses the server's list of problems: `brand.displayName: holds an emoji; owner: is missing.` */
function wrongFields(problem: Problem | null): ReadonlyMap<string, string> {
  if (problem?.code !== 'brand_request_invalid') return new Map();
  const parts = problem.message.split('; ').map((part) => /^(?:brand\.|changes\.)?([\w.]+): (.*?)\.?$/.exec(part));
  return new Map(parts.flatMap((part) => (part === null ? [] : [[part[1]!.replace(/\.\d+$/, ''), part[2]!] as const])));
}

/** The text of a field; null if it is empty. */
export function textIn(form: FormData, name: string): string | null {
  const value = form.get(name);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** The chosen file; null without one. */
export function fileIn(form: FormData, name: string): File | null {
  const value = form.get(name);
  return value instanceof File && (value.name !== '' || value.size > 0) ? value : null;
}

/** Splits entries by lines and commas. */
export function listIn(form: FormData, name: string, separator: RegExp): string[] {
  return splitEntries(textIn(form, name) ?? '', separator);
}

export function splitEntries(text: string, separator: RegExp): string[] {
  return text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Numbers are separated by lines, commas or semicolons, not by spaces, which may be part of a number. */
export const betweenNumbers = /[\n,;]+/;
