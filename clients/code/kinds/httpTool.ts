import type { components } from '../../../generated/api.ts';
import { isJsonObject, type JsonObject, withoutDefaults } from '../json.ts';
import type { Entry, Kind, Place, SecretPlace } from '../kind.ts';
import { fileSchema, requestSchema } from '../schemas/requestSchemas.ts';
import { changesOf, differs, fixedRefusal, oldestFirst, textOf } from './fields.ts';
import {
  demandReferences,
  keptSecrets,
  type SecretPaths,
  secretsIn,
  secretsToSend,
  withReferences,
  withValues,
} from './secretFields.ts';

type Schemas = components['schemas'];

/** Where the configuration of each type has secrets (`HttpRequestConfiguration` and the others of the document). */
const SECRETS: Readonly<Record<string, SecretPaths>> = {
  HTTP_REQUEST: [['configuration', 'secrets', '*']],
  DATABASE_QUERY: [['configuration', 'connection']],
  CUSTOM_INTEGRATION: [['configuration', 'auth', 'secret']],
};

/** Characters of JSON of an OpenAPI document that the service keeps as it is. */
const MAX_DOCUMENT_CHARS = 524_288;

/** What decides where a tool sends its secrets. The service keeps none of them for another origin, so they are sent again. */
const DIRECTIONS = ['url', 'openapi', 'baseUrl', 'operations'];

/** The tools of a workspace, of every type: `http-tools/<name>.yaml`. */
export const httpToolKind: Kind = {
  kind: 'http-tool',
  after: [],
  layout: { form: 'file', folder: 'http-tools' },
  schema: toolSchema(),

  async list({ api }) {
    const tools = await oldestFirst(api.items('listTools', { query: { limit: 100 } }));
    return tools.map((raw) => ({ id: raw.publicId, name: raw.name, raw }));
  },

  async read({ id, raw }, { api, known }) {
    const listed = raw as Schemas['HttpTool'];
    // The list shortens documents.
    const whole = isJsonObject(listed.configuration.openapi)
      ? await api.call('getTool', { path: { httpToolPublicId: id } })
      : listed;
    const { name, description, toolType, requiresApproval } = whole;
    const fields = withoutDefaults({
      description: textOf(description),
      toolType,
      requiresApproval,
      configuration: whole.configuration as JsonObject,
    });
    const named = withReferences(fields, secretPaths(fields), known(id), (at) => ['TOOL', name, `${at.at(-1)}`]);
    return { kind: 'http-tool', name, fields: named, files: {} };
  },

  async fromFile(_name, yaml, place) {
    demandReferences(yaml, secretPaths(yaml), place);
    demandWholeDocument(yaml, place);
    const { description, toolType, requiresApproval, configuration } = yaml;
    const text = typeof description === 'string' ? textOf(description) : undefined;
    return { fields: withoutDefaults({ description: text, toolType, requiresApproval, configuration }), files: {} };
  },

  secrets(before, after, resend): SecretPlace[] {
    if (before && !resend && !differs(before, after, 'configuration')) return [];
    return toSend(before, after, resend);
  },

  refusal(_listed, before, after) {
    return before && after ? fixedRefusal(before, after, ['toolType']) : undefined;
  },

  async create(entry, context) {
    const fields = await withValues(entry.fields, secretPaths(entry.fields), toSend(undefined, entry, false), context);
    const { api, idempotencyKey } = context;
    const body = { name: entry.name, ...fields } as unknown as Schemas['HttpToolCreate'];
    const { publicId } = await api.call('createTool', { body, idempotencyKey });
    context.remember(keptSecrets(entry.fields, secretPaths(entry.fields)));
    return { id: publicId, entry };
  },

  async change(id, before, after, context) {
    const { api, resendSecrets } = context;
    const paths = secretPaths(after.fields);
    const body: Schemas['HttpToolUpdate'] = changesOf(before, after, ['description', 'requiresApproval'], {
      description: '',
      requiresApproval: false,
    });
    if (before.name !== after.name) body.name = after.name;
    const resends = resendSecrets && secretsIn(after.fields, paths).length > 0;
    if (resends || differs(before, after, 'configuration')) {
      const sent = await withValues(after.fields, paths, toSend(before, after, resendSecrets), context);
      body.configuration = sent.configuration as JsonObject;
    }
    if (Object.keys(body).length > 0) await api.call('updateTool', { path: { httpToolPublicId: id }, body });
    context.remember(keptSecrets(after.fields, paths));
  },

  async remove(id, { api }) {
    await api.call('deleteTool', { path: { httpToolPublicId: id } });
  },
};

/** Of a larger document the service keeps a part, so that files and service would differ for ever. */
function demandWholeDocument({ configuration }: JsonObject, place: Pick<Place, 'fault'>): void {
  const openapi = isJsonObject(configuration) ? configuration.openapi : undefined;
  if (!isJsonObject(openapi) || JSON.stringify(openapi).length <= MAX_DOCUMENT_CHARS) return;
  const message = `has more than ${MAX_DOCUMENT_CHARS} characters. Give the https address of the document, or keep the operations that are listed.`;
  throw place.fault(['configuration', 'openapi'], message);
}

function secretPaths({ toolType }: JsonObject): SecretPaths {
  return (typeof toolType === 'string' && SECRETS[toolType]) || [];
}

function toSend(before: Entry | undefined, after: Entry, resend: boolean): SecretPlace[] {
  const isRedirected = DIRECTIONS.some((name) => differs(before, after, 'configuration', name));
  return secretsToSend(before?.fields, after.fields, secretPaths(after.fields), resend || isRedirected);
}

function toolSchema(): JsonObject {
  const toolType = {
    type: 'string',
    enum: ['HTTP_REQUEST', 'DATABASE_QUERY', 'INTERNAL_VARIABLE', 'CUSTOM_INTEGRATION'],
  };
  const configurations = {
    HTTP_REQUEST: requestSchema('HttpRequestConfiguration'),
    DATABASE_QUERY: requestSchema('DatabaseQueryConfiguration'),
    INTERNAL_VARIABLE: requestSchema('InternalVariableConfiguration'),
    CUSTOM_INTEGRATION: requestSchema('CustomIntegrationConfiguration'),
  };
  return {
    ...fileSchema(['HttpToolCreate'], { omit: ['name'], properties: { toolType } }),
    allOf: Object.entries(configurations).map(([type, configuration]) => ({
      if: { required: ['toolType'], properties: { toolType: { const: type } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { configuration } },
    })),
  };
}
