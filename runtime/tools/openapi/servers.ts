import { BadDocument, type Fields, isFields, type Located } from './document.ts';

/** What is wrong with the address of an API, undefined when nothing is. */
export function serverFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be an http or https address';
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password';
  if (url.search !== '' || url.hash !== '') return 'must not have a query or a fragment';
  return undefined;
}

/**
 * The address of the API: `baseUrl`, else the first server of the document, or of a path or an operation at `steps`, with the defaults of its
 * variables, relative to the address that the document came from. Throws BadDocument when there is none.
 */
export function serverOf(
  described: Fields,
  baseUrl: string | undefined,
  address: string | undefined,
  steps: Located['steps'] = [],
): string {
  if (baseUrl !== undefined) return URL.parse(baseUrl)?.href.replace(/(?<!\/)\/+$/, '') ?? '';
  const at = [...steps, 'servers', 0, 'url'];
  const first: unknown = Array.isArray(described.servers) ? described.servers[0] : undefined;
  // OpenAPI 3.1, 4.8.1: a document without servers has one, `/`.
  const server = isFields(first) ? first : { url: '/' };
  const variables = isFields(server.variables) ? server.variables : {};
  const text = String(server.url).replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isFields(variable) && typeof variable.default === 'string' ? variable.default : whole;
  });
  const open = /\{[^{}]*\}/.exec(text)?.[0];
  if (open !== undefined) throw new BadDocument(`has no value for ${open}; a baseUrl can take its place`, at);
  const url = URL.parse(text, address);
  if (url === null) throw new BadDocument('is needed: the document does not say where the API is', [], 'baseUrl');
  const wrong = serverFault(url.href);
  if (wrong !== undefined) throw new BadDocument(`${wrong}; a baseUrl can take its place`, at);
  return url.href.replace(/(?<!\/)\/+$/, '');
}
