import type { ErrorDetail } from '../../../core/errors.ts';
import { below, faultAt } from '../../../core/faults.ts';
import type { CheckedForm } from '../../../core/namedSchemas.ts';
import type { components } from '../../../generated/api.ts';
import { findSchemaFaults, fitInputs } from '../configuration/fitInputs.ts';
import { declaredInputs } from '../configuration/inputSchema.ts';
import { addQuery, addressFaults, fillAddress, secretHosts, secretOrigin } from '../request/address.ts';
import { carriesSecret, fillBody } from '../request/body.ts';
import { fillHeaders, headerNameFault, isHeaderValue, secretHeaders } from '../request/headers.ts';
import { callHttp } from '../request/httpCall.ts';
import { placeholdersIn, written } from '../request/placeholders.ts';
import { DEFAULT_TIMEOUT_SECONDS, type ToolOutcome } from '../tool.ts';
import { type CheckOptions, NO_INPUTS, type ToolKind, type ToolRun } from './kind.ts';

type HttpRequestConfiguration = components['schemas']['HttpRequestConfiguration'];

/** Every text of a JSON value with its place. Names of properties are marked: they cannot be templates. */
function* textsOf(value: unknown, path: string): Generator<{ text: string; path: string; isName: boolean }> {
  if (typeof value === 'string') yield { text: value, path, isName: false };
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) yield { text: key, path: below(path, key), isName: true };
      yield* textsOf(inner, below(path, key));
    }
  }
}

function placeholderFaults(
  configuration: Partial<HttpRequestConfiguration>,
  secrets: object,
  path: string,
): ErrorDetail[] {
  const { url, headers, query, body, inputSchema } = configuration;
  const declared = declaredInputs(inputSchema);
  const faults: ErrorDetail[] = [];
  for (const each of textsOf({ url, headers, query, body }, path)) {
    for (const placeholder of placeholdersIn(each.text)) {
      const { source, name } = placeholder;
      if (each.isName) {
        faults.push(faultAt(each.path, 'must not have a placeholder in its name', 'placeholder'));
      } else if (source === 'secret' && !Object.hasOwn(secrets, name)) {
        faults.push(faultAt(each.path, `${written(placeholder)} is not one of the secrets`, 'placeholder'));
      } else if (source === 'input' && declared?.has(name) === false) {
        faults.push(faultAt(each.path, `${written(placeholder)} is not a property of the inputSchema`, 'placeholder'));
      }
    }
  }
  return faults;
}

function headerFaults(headers: Record<string, string>, path: string): ErrorDetail[] {
  const seen = new Set<string>();
  return Object.entries(headers).flatMap(([name, value]) => {
    const here = below(path, name);
    const again = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    return [
      ...headerNameFault(name, here),
      ...(again ? [faultAt(here, 'is given twice: the names of headers are the same in upper and lower case')] : []),
      ...(isHeaderValue(value) ? [] : [faultAt(here, 'must not have line breaks or control characters', 'format')]),
    ];
  });
}

async function faultsOf(
  { given, faults, sound }: CheckedForm<HttpRequestConfiguration>,
  path: string,
  { workspaceId }: CheckOptions,
): Promise<ErrorDetail[]> {
  const { url, headers = {}, inputSchema } = sound;
  // A secret that is wrong is there all the same.
  const secrets = typeof given.secrets === 'object' && given.secrets !== null ? given.secrets : {};
  const hasSecrets = Object.keys(secrets).length > 0;
  return [
    ...faults,
    ...(url === undefined ? [] : addressFaults(url, below(path, 'url'), hasSecrets)),
    ...(inputSchema === undefined ? [] : await findSchemaFaults(inputSchema, below(path, 'inputSchema'), workspaceId)),
    ...headerFaults(headers, below(path, 'headers')),
    ...placeholderFaults(sound, secrets, path),
  ];
}

function describe({ method = 'GET', url }: HttpRequestConfiguration): string {
  const host = URL.parse(url)?.hostname ?? '';
  return `Sends a ${method} request${/^[\w.-]+$/.test(host) ? ` to ${host}` : ''}.`;
}

async function runRequest({
  context,
  configuration,
  inputs,
  signal,
}: ToolRun<HttpRequestConfiguration>): Promise<ToolOutcome> {
  const { method = 'GET', url, headers = {}, query = {}, body, inputSchema, secrets = {} } = configuration;
  const values = { input: await fitInputs(inputSchema, inputs, { context, signal }), secret: secrets };
  const address = addQuery(fillAddress(url, values), query, values);
  const filled = fillHeaders(headers, values);
  const content = body === undefined || body === null ? { headers: filled } : fillBody(body, filled, values);
  return callHttp({
    ...content,
    secretHeaders: secretHeaders(headers),
    method,
    url: address,
    timeoutSeconds: configuration.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    allowPrivateNetwork: context.runtime.allowPrivateNetwork,
    workspaceId: context.workspaceId,
    // The guarded client drops secret headers when a redirect leads to another host, but a 307 sends the body there.
    ...(carriesSecret(body) ? { maxRedirects: 0 } : {}),
    signal,
  });
}

/** Sends one HTTP request that the inputs fill in. */
export const httpRequest: ToolKind<HttpRequestConfiguration> = {
  secretPaths: [['secrets', '*']],
  check: async (...checked) => ({ faults: await faultsOf(...checked) }),
  origins: ({ configuration: { url, secrets = {} } }) => [secretOrigin(url, secrets)],
  secretTexts: ({ url, secrets = {} }) => secretHosts(url, secrets),
  functions: ({ configuration }) => [
    {
      operationId: null,
      description: '',
      fallbackDescription: describe(configuration),
      inputSchema: configuration.inputSchema ?? NO_INPUTS,
    },
  ],
  run: runRequest,
};
