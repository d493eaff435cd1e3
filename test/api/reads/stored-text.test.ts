import { expect, it } from 'vitest';
import { SCOPES } from '../../../pipelines/access/keys.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useTestApi } from '../support/running-api.ts';

const { url, makeKey } = await useTestApi(await useTestDatabase());

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

it('no path and no parameter takes a text that the database cannot store', async () => {
  const headers = { authorization: `Bearer ${(await makeKey([...SCOPES])).key}` };
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, { get: Operation }>;
  };
  const answered: [string, number][] = [];
  const ask = async (path: string) => answered.push([path, (await fetch(`${url}${path}`, { headers })).status]);
  for (const [path, { get }] of Object.entries(paths)) {
    if (path.includes('{')) await ask(path.replace(/\{\w+\}/g, 'a%00b'));
    const parameters = (get.parameters ?? []).filter((parameter) => parameter.in === 'query');
    for (const { name } of parameters) await ask(`${path.replace(/\{\w+\}/g, 'x')}?${name}=a%00b`);
  }
  expect(answered.length).toBeGreaterThan(20);
  expect(answered.filter(([, status]) => status !== 400 && status !== 404)).toEqual([]);
});
