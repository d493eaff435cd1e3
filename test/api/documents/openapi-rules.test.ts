import { expect, it } from 'vitest';
import { lintOpenApi, type OpenApiDocument, type OpenApiOperation } from './openapi-rules.ts';

const operation: OpenApiOperation = {
  operationId: 'getThing',
  summary: 'A thing',
  tags: ['Things'],
  security: [{ key: [] }],
  parameters: [{ name: 'id', in: 'path', required: true, description: 'Its id.', schema: { type: 'string' } }],
  responses: {
    200: {
      description: 'It.',
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' }, example: {} } },
    },
    401: { description: 'No key.', content: { 'application/problem+json': { schema: {}, example: {} } } },
  },
};
const document: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Things', version: '1', description: 'All of them.' },
  servers: [{ url: '/', description: 'Here.' }],
  tags: [{ name: 'Things', description: 'Things.' }],
  paths: { '/things/{id}': { get: operation } },
  components: { schemas: { Thing: {} }, securitySchemes: { key: {} } },
};
const withOperation = (changes: Partial<OpenApiOperation>): OpenApiDocument => ({
  ...document,
  paths: { '/things/{id}': { get: { ...operation, ...changes } } },
});
const { 401: _refusal, ...accepted } = operation.responses;

it('has nothing to say of a document that lacks nothing', () => {
  expect(lintOpenApi(document)).toEqual([]);
});

it.for<[string, OpenApiDocument, RegExp]>([
  ['servers', { ...document, servers: [] }, /no servers/],
  ['a described tag', { ...document, tags: [{ name: 'Things' }] }, /Tag Things has no description/],
  ['a word on security', withOperation({ security: undefined }), /security/],
  ['a known security scheme', withOperation({ security: [{ token: [] }] }), /unknown security scheme token/],
  ['an operationId', withOperation({ operationId: undefined }), /operationId/],
  ['a tag of the list', withOperation({ tags: ['Others'] }), /tag of the list/],
  ['a summary', withOperation({ summary: ' ' }), /summary/],
  ['an answer 4xx', withOperation({ security: [], responses: accepted }), /no answer 4xx/],
  ['the answer 401', withOperation({ responses: { ...accepted, 404: operation.responses['401']! } }), /no answer 401/],
  ['its path parameters', withOperation({ parameters: [] }), /other parameters than its path/],
  [
    'an example',
    withOperation({
      responses: {
        ...operation.responses,
        200: { description: 'It.', content: { 'application/json': { schema: {} } } },
      },
    }),
    /no example of 200/,
  ],
  [
    'GET alone',
    { ...document, paths: { '/things/{id}': { get: operation, head: { ...operation, operationId: 'headThing' } } } },
    /HEAD is described/,
  ],
  [
    'ids of their own',
    { ...document, paths: { '/things/{id}': { get: operation }, '/things/{id}/more': { get: operation } } },
    /occurs more than once/,
  ],
  [
    'the schemas that it refers to',
    { ...document, components: { ...document.components, schemas: {} } },
    /no schema Thing/,
  ],
])('misses %s', ([, broken, sentence]) => {
  expect(lintOpenApi(broken).join('\n')).toMatch(sentence);
});
