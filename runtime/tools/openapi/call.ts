import type { ImportedEndpoint, ImportedParameter } from '../../../db/stored/importedEndpoint.ts';
import { ToolFailure } from '../failure.ts';
import { hasDotSegment } from '../request/address.ts';
import { headerValue, isHeaderValue } from '../request/headers.ts';
import { bodyOf } from './bodies.ts';
import { encodedPairs, headerText, pairsOf, pathText } from './styles.ts';

/** Undefined where a list or an object has nothing to send. */
function headerOf(parameter: ImportedParameter, value: unknown): string | undefined {
  const text = headerText(parameter, value);
  if (text === '' && typeof value === 'object') return undefined;
  if (!isHeaderValue(text))
    throw new ToolFailure(`${parameter.input} must not have line breaks or control characters.`);
  return headerValue(text);
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
    const { name, input, fixed } = parameter;
    const value = fixed ?? (Object.hasOwn(inputs, input) ? inputs[input] : undefined);
    const given = value !== undefined && value !== null;
    if (parameter.in === 'path') {
      const text = given ? pathText(name, parameter, value) : '';
      if (text === '') throw new ToolFailure(`${input} must have a value, since the path needs it.`);
      path = path.replaceAll(`{${name}}`, () => text);
    } else if (given && parameter.in === 'query') {
      query.push(...encodedPairs(pairsOf(name, parameter, value), parameter.allowReserved));
    } else if (given) {
      const text = headerOf(parameter, value);
      // `accept` in the document takes the place of the usual one.
      if (text !== undefined) headers[name.toLowerCase() === 'accept' ? 'accept' : name] = text;
    }
  }
  if (hasDotSegment(path)) throw new ToolFailure('A segment of the path must not be . or ..');
  const url = endpoint.server + path + (query.length > 0 ? `?${query.join('&')}` : '');
  const request = { method: endpoint.method, url, headers };
  if (endpoint.bodyType === null || !Object.hasOwn(inputs, 'body')) return request;
  const { contentType, body } = bodyOf({ ...endpoint, bodyType: endpoint.bodyType }, inputs.body);
  return { ...request, headers: { ...headers, 'content-type': contentType }, body };
}
