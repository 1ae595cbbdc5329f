import type { AnyRequest } from '../../sdk/index.ts';
import type { Context } from '../context.ts';
import { asUsage, usage } from '../failure.ts';
import { jsonBody, readBody } from '../input.ts';
import { pagesOf } from './pages.ts';
import { writeResponse } from './response.ts';

/** The flags of `guildhall api`. */
export interface ApiOptions {
  body?: string;
  query?: string[];
  header?: string[];
  page?: string;
  limit?: string;
  all?: boolean;
  include?: boolean;
  output?: string;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Sends the request, and writes what comes. */
export async function requestApi(context: Context, method: string, path: string, options: ApiOptions): Promise<void> {
  const verb = method.toUpperCase();
  if (!METHODS.has(verb)) throw usage(`${method} is no method: ${[...METHODS].join(', ')}.`);
  if (options.all && verb !== 'GET') throw usage('--all reads lists: it goes with GET only.');
  if (options.all && (options.include || options.output))
    throw usage('--all goes with neither --include nor --output.');
  const { baseUrl } = await context.login();
  checkOrigin(path, baseUrl);
  const request: AnyRequest = {
    method: verb,
    path,
    query: queryOf(options),
    headers: headersOf(options.header),
    ...(await bodyOf(context, verb, options)),
  };
  const api = await context.api();
  if (options.all) return await context.printEach(pagesOf(context, api, request));
  const response = await api.send(request).catch(asUsage);
  await writeResponse(context, response, options);
}

/** A whole address of another origin would get the key. */
function checkOrigin(path: string, baseUrl: string): void {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(path) && !path.startsWith('//')) return;
  const url = URL.canParse(path) ? new URL(path) : undefined;
  if (url?.origin === new URL(baseUrl).origin && !url.username && !url.password) return;
  throw usage(
    `${path} is not an address of ${baseUrl}, and the key is not sent elsewhere.`,
    'Give the path alone, or set --base-url to that service and pass its key.',
  );
}

function queryOf({ query = [], page, limit }: ApiOptions): [string, string][] {
  const pairs = query.map((each): [string, string] => {
    const at = each.indexOf('=');
    if (at <= 0) throw usage(`--query takes name=value, and not ${JSON.stringify(each)}.`);
    return [each.slice(0, at), each.slice(at + 1)];
  });
  for (const [name, value] of Object.entries({ page, limit })) {
    if (value === undefined) continue;
    if (!/^\d+$/.test(value)) throw usage(`--${name} takes a number, and not ${JSON.stringify(value)}.`);
    if (pairs.some(([other]) => other === name)) throw usage(`${name} is given twice.`);
    pairs.push([name, value]);
  }
  return pairs;
}

/** Headers that say who asks, where, or how long the body is: they are not the user's to set. */
const OWN = new Set(['x-api-key', 'authorization', 'host', 'content-length', 'connection', 'transfer-encoding']);

function headersOf(lines: string[] = []): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    const name = line.slice(0, at).trim().toLowerCase();
    const value = line.slice(at + 1).trim();
    if (at <= 0 || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || !/^[\t\u0020-\u007E\u0080-\u00FF]*$/.test(value))
      throw usage(`--header takes name:value, and not ${JSON.stringify(line)}.`);
    if (OWN.has(name))
      throw usage(`--header cannot set ${name}.`, 'The key comes from the login: see guildhall auth whoami.');
    headers[name] = value;
  }
  return headers;
}

async function bodyOf(
  { io }: Context,
  verb: string,
  { body, header = [] }: ApiOptions,
): Promise<Pick<AnyRequest, 'body' | 'headers'>> {
  const headers = headersOf(header);
  if (body === undefined) return { headers };
  if (verb === 'GET' || verb === 'HEAD') throw usage(`${verb} takes no body.`);
  const content = await readBody(io, body);
  if (headers['content-type'])
    return { headers, body: typeof content === 'string' ? content : new Uint8Array(content) };
  // The service would refuse what is no JSON, too; here the place of the mistake is named. The text goes out as it came.
  const { text } = jsonBody(content);
  return { headers: { ...headers, 'content-type': 'application/json' }, body: text };
}
