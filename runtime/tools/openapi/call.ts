import type { ImportedEndpoint, ImportedParameter } from '../../../db/stored/importedEndpoint.ts';
import { ToolFailure } from '../failure.ts';
import { hasDotSegment } from '../request/address.ts';
import { headerValue, isHeaderValue } from '../request/headers.ts';
import { asText, percentEncode } from '../request/placeholders.ts';

type Encode = (text: string) => string;

/** A value in the style `simple` or `form` (RFC 6570, 3.2.2 and 3.2.8). */
function joined(value: unknown, explode: boolean, encode: Encode): string {
  if (Array.isArray(value)) return value.map((item) => encode(asText(item))).join(',');
  if (typeof value !== 'object' || value === null) return encode(asText(value));
  const pairs = Object.entries(value).map(([key, inner]) => [encode(key), encode(asText(inner))]);
  return pairs.map((pair) => pair.join(explode ? '=' : ',')).join(',');
}

function queryPairs({ name, style, explode }: ImportedParameter, value: unknown): string[] {
  const key = percentEncode(name);
  if (style === 'json') return [`${key}=${percentEncode(JSON.stringify(value))}`];
  if (Array.isArray(value)) {
    if (explode) return value.map((item) => `${key}=${percentEncode(asText(item))}`);
    const separator = style === 'spaceDelimited' ? '%20' : style === 'pipeDelimited' ? '%7C' : ',';
    return [`${key}=${value.map((item) => percentEncode(asText(item))).join(separator)}`];
  }
  if (typeof value === 'object' && value !== null && (explode || style === 'deepObject')) {
    return Object.entries(value).map(([field, inner]) => {
      const field_ = style === 'deepObject' ? percentEncode(`${name}[${field}]`) : percentEncode(field);
      return `${field_}=${percentEncode(asText(inner))}`;
    });
  }
  return [`${key}=${joined(value, explode, percentEncode)}`];
}

/** The request that calls an endpoint, with each input where the document says. Throws ToolFailure when an input does not fit. */
export function requestOf(
  endpoint: ImportedEndpoint,
  inputs: Readonly<Record<string, unknown>>,
): { method: string; url: string; headers: Record<string, string>; body?: string } {
  let path = endpoint.path;
  const query: string[] = [];
  const headers: Record<string, string> = { accept: 'application/json, */*;q=0.5' };
  for (const parameter of endpoint.parameters) {
    const value = Object.hasOwn(inputs, parameter.input) ? inputs[parameter.input] : undefined;
    const given = value !== undefined && value !== null;
    if (parameter.in === 'path') {
      const text = !given
        ? ''
        : parameter.style === 'json'
          ? percentEncode(JSON.stringify(value))
          : joined(value, parameter.explode, percentEncode);
      if (text === '') throw new ToolFailure(`${parameter.input} must have a value, since the path needs it.`);
      path = path.replaceAll(`{${parameter.name}}`, () => text);
    } else if (given && parameter.in === 'query') {
      query.push(...queryPairs(parameter, value));
    } else if (given) {
      const text =
        parameter.style === 'json' ? JSON.stringify(value) : joined(value, parameter.explode, (each) => each);
      if (!isHeaderValue(text))
        throw new ToolFailure(`${parameter.input} must not have line breaks or control characters.`);
      headers[parameter.name] = headerValue(text);
    }
  }
  if (hasDotSegment(path)) throw new ToolFailure('A segment of the path must not be . or ..');
  const url = endpoint.server + path + (query.length > 0 ? `?${query.join('&')}` : '');
  const request = { method: endpoint.method, url, headers };
  if (endpoint.bodyType === null || !Object.hasOwn(inputs, 'body')) return request;
  return {
    ...request,
    headers: { ...headers, 'content-type': endpoint.bodyType },
    body: JSON.stringify(inputs.body),
  };
}
