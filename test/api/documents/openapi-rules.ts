/** The part of an OpenAPI document that the rules read. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>>;
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, unknown>>;
    readonly securitySchemes?: Readonly<Record<string, unknown>>;
  };
}

/** An operation of the document. */
export interface OpenApiOperation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: object;
  }[];
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly content?: Readonly<Record<string, { readonly schema?: object; readonly example?: unknown }>>;
        readonly headers?: Readonly<Record<string, unknown>>;
      }
    >
  >;
}

/** Bodies of these types are compressed bytes: no example can be read. */
const bytes = new Set(['application/gzip', 'application/octet-stream', 'application/pdf']);

const isText = (text: unknown): text is string => typeof text === 'string' && text.trim() !== '';

/** What a careful reader of an OpenAPI document misses in it, a sentence each; empty if nothing. */
export function lintOpenApi(document: OpenApiDocument): string[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return [
    ...lintDocument(document),
    ...operations.flatMap(({ path, method, operation }) => lintOperation(document, { path, method, operation })),
    ...repeatedIds(operations.map(({ operation }) => operation.operationId)),
    ...lintReferences(document),
  ];
}

function lintDocument({ openapi, info, servers = [], tags = [] }: OpenApiDocument): string[] {
  return [
    ...(/^3\.1\.\d+$/.test(openapi) ? [] : [`The version is ${openapi}.`]),
    ...['title', 'version', 'description'].filter((name) => !isText(info[name])).map((name) => `info has no ${name}.`),
    ...(servers.length === 0 ? ['There are no servers.'] : []),
    ...servers.filter(({ description }) => !isText(description)).map(({ url }) => `Server ${url} has no description.`),
    ...tags.filter(({ description }) => !isText(description)).map(({ name }) => `Tag ${name} has no description.`),
  ];
}

interface PlacedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiOperation;
}

function lintOperation(document: OpenApiDocument, { path, method, operation }: PlacedOperation): string[] {
  const { operationId, summary, tags = [], security, parameters = [], responses } = operation;
  const known = new Set((document.tags ?? []).map(({ name }) => name));
  const schemes = Object.keys(document.components?.securitySchemes ?? {});
  const found: string[] = [];
  if (method === 'head') found.push('HEAD is described with GET');
  if (!/^[a-z][A-Za-z0-9_]*$/.test(operationId ?? '')) found.push('has no operationId');
  if (!isText(summary)) found.push('has no summary');
  if (tags.length !== 1 || !known.has(tags[0]!)) found.push('has not exactly one tag of the list');
  if (security === undefined) found.push('says nothing of security');
  for (const scheme of (security ?? []).flatMap(Object.keys))
    if (!schemes.includes(scheme)) found.push(`has the unknown security scheme ${scheme}`);
  if ((security ?? []).length > 0 && responses['401'] === undefined) found.push('needs a key and has no answer 401');
  if (!Object.keys(responses).some((status) => status.startsWith('2'))) found.push('has no answer of success');
  if (!Object.keys(responses).some((status) => status.startsWith('4'))) found.push('has no answer 4xx');
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const described = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
  if (inPath.toSorted().join() !== described.toSorted().join()) found.push('has other parameters than its path');
  for (const { name, in: place, required, description, schema } of parameters) {
    if (!isText(description)) found.push(`has no description of the parameter ${name}`);
    if (schema === undefined) found.push(`has no schema of the parameter ${name}`);
    if (place === 'path' && required !== true) found.push(`does not require the parameter ${name} of its path`);
  }
  for (const [status, response] of Object.entries(responses)) found.push(...lintResponse(status, response));
  return found.map((what) => `${method.toUpperCase()} ${path} ${what}.`);
}

function lintResponse(status: string, { description, content = {} }: OpenApiOperation['responses'][string]): string[] {
  const found = isText(description) ? [] : [`has no description of ${status}`];
  for (const [mediaType, { schema, example }] of Object.entries(content)) {
    if (schema === undefined) found.push(`has no schema of ${status} ${mediaType}`);
    if (example === undefined && !bytes.has(mediaType)) found.push(`has no example of ${status} ${mediaType}`);
  }
  if (/^[45]/.test(status) && Object.keys(content).length === 0) found.push(`has no body of ${status}`);
  return found;
}

function repeatedIds(ids: readonly (string | undefined)[]): string[] {
  const repeated = ids.filter((id, at) => id !== undefined && ids.indexOf(id) !== at);
  return repeated.map((id) => `The operationId ${id} occurs more than once.`);
}

/** Each reference leads to a schema, and each schema is referred to. */
function lintReferences(document: OpenApiDocument): string[] {
  const schemas = Object.keys(document.components?.schemas ?? {});
  const referred = new Set(
    [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!),
  );
  return [
    ...[...referred].filter((name) => !schemas.includes(name)).map((name) => `There is no schema ${name}.`),
    ...schemas.filter((name) => !referred.has(name)).map((name) => `Nothing refers to the schema ${name}.`),
  ];
}
