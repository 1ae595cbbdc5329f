import type { components } from '../../../generated/api.ts';
import { urlOf } from '../../sdk/options.ts';
import { type JsonObject, type JsonValue, withoutDefaults } from '../json.ts';
import type { ChangeContext, Entry, Kind, Known, SecretPlace } from '../kind.ts';
import { fileSchema } from '../schemas/requestSchemas.ts';
import { isSecretReference } from '../secrets/reference.ts';
import { differs, oldestFirst } from './fields.ts';
import { demandReferences, keptSecrets, referenceFor, type SecretPaths, secretsIn } from './secretFields.ts';

type Schemas = components['schemas'];

const SECRETS: SecretPaths = [['authValue'], ['authHeaders', '*', 'value']];
const AUTH = ['authType', 'authHeaderName', 'authValue', 'authHeaders'];
const WRITABLE = ['NONE', 'API_KEY', 'BEARER_TOKEN', 'CUSTOM_HEADER'];

/** The external MCP servers of a workspace: `mcp-servers/<name>.yaml`. */
export const mcpServerKind: Kind = {
  kind: 'mcp-server',
  after: [],
  layout: { form: 'file', folder: 'mcp-servers' },
  schema: {
    ...fileSchema(['ExternalMcpCreate'], {
      omit: ['name', 'authType', 'rejectIfNotConnected'],
      properties: { authType: { type: 'string', enum: WRITABLE } },
    }),
    required: ['url'],
  },

  async list({ api }) {
    const servers = await oldestFirst(api.items('listExternalMcps', { query: { limit: 100 } }));
    return servers.map((raw) => ({
      id: raw.publicId,
      name: raw.name,
      raw,
      ...(!WRITABLE.includes(raw.authType) && {
        problem: `a person authorized it in the console (${raw.authType}), which the API cannot repeat`,
      }),
    }));
  },

  async read({ id, raw }, { known, warn }) {
    const { name, url, authType, authHeaderName, status, errorMessage } = raw as Schemas['ExternalMcp'];
    if (status === 'ERROR') warn(`The MCP server ${name} is not connected: ${errorMessage}`);
    const record = known(id);
    const credential = credentialOf({ name, authType, authHeaderName }, record);
    if (authType === 'CUSTOM_HEADER' && Object.keys(credential).length === 0)
      warn(`The MCP server ${name} has headers whose names the API does not show: add them as authHeaders.`);
    const fields = withoutDefaults({ url, authType, ...credential }, { authType: 'NONE' });
    return { kind: 'mcp-server', name, fields, files: {} };
  },

  async fromFile(_name, yaml, place) {
    demandReferences(yaml, SECRETS, place);
    const { url, authType, authHeaderName, authValue, authHeaders } = yaml;
    return {
      fields: withoutDefaults({ url, authType, authHeaderName, authValue, authHeaders }, { authType: 'NONE' }),
      files: {},
    };
  },

  secrets(before, after, resend): SecretPlace[] {
    return !before || resend || sendsAuth(before, after) ? secretsIn(after.fields, SECRETS) : [];
  },

  refusal(_listed, before, after) {
    if (!after) return undefined;
    const { authType = 'NONE', authValue, authHeaders, authHeaderName } = after.fields;
    const isMissing =
      authType === 'CUSTOM_HEADER'
        ? authHeaders === undefined && (authValue === undefined || authHeaderName === undefined)
        : authType !== 'NONE' && authValue === undefined;
    if (!isMissing || (before && !sendsAuth(before, after))) return undefined;
    return authType === 'CUSTOM_HEADER'
      ? 'it needs `authHeaders`: names and values of its headers cannot be read from the service'
      : `\`authType\` ${authType} needs \`authValue\``;
  },

  async create(entry, context) {
    const { api, idempotencyKey } = context;
    const body = { name: entry.name, url: entry.fields.url, ...(await authOf(entry, context)) };
    const made = await api.call('createExternalMcp', { body: body as Schemas['ExternalMcpCreate'], idempotencyKey });
    settle(made, entry, context);
    return { id: made.publicId, entry };
  },

  async change(id, before, after, context) {
    const body: Record<string, JsonValue> = {};
    if (before.name !== after.name) body.name = after.name;
    if (differs(before, after, 'url')) body.url = after.fields.url as string;
    if (sendsAuth(before, after) || (context.resendSecrets && secretsIn(after.fields, SECRETS).length > 0)) {
      const auth = await authOf(after, context);
      // The header of an API key is the only part that can go without its type.
      if (auth.authType === 'API_KEY' && before.fields.authHeaderName !== undefined) auth.authHeaderName ??= null;
      Object.assign(body, auth);
    }
    if (Object.keys(body).length > 0)
      settle(await context.api.call('updateExternalMcp', { path: { externalMcpPublicId: id }, body }), after, context);
    else context.remember(keptOf(after));
  },

  async remove(id, { api }) {
    await api.call('deleteExternalMcp', { path: { externalMcpPublicId: id } });
  },
};

/** The credential in a file's words. The service tells its type, and the name of one header; the lock file has the rest. */
function credentialOf(
  server: Pick<Schemas['ExternalMcp'], 'name' | 'authType' | 'authHeaderName'>,
  known: Known | undefined,
): JsonObject {
  const { name, authType, authHeaderName } = server;
  const value = (what: string) => referenceFor(known, ['authValue'], 'MCP', name, what);
  const keptName = known?.kept?.authHeaderName;
  if (authType === 'BEARER_TOKEN') return { authValue: value('TOKEN') };
  if (authType === 'API_KEY') return withoutDefaults({ authHeaderName: keptName, authValue: value('API_KEY') });
  if (authType !== 'CUSTOM_HEADER') return {};
  if (authHeaderName !== null) return { authHeaderName, authValue: value(authHeaderName) };
  const names = known?.kept?.headers;
  if (!Array.isArray(names)) return {};
  const headers = names.map((header, index) => ({
    name: header,
    value: referenceFor(known, ['authHeaders', index, 'value'], 'MCP', name, `${header}`),
  }));
  return { authHeaders: headers };
}

/** What the lock file keeps: references, and names of headers that the service does not show. */
function keptOf({ fields }: Entry): JsonObject {
  const { authHeaders, authHeaderName } = fields;
  return {
    ...keptSecrets(fields, SECRETS),
    ...(authHeaderName !== undefined && { authHeaderName }),
    ...(Array.isArray(authHeaders) && { headers: authHeaders.map((header) => (header as JsonObject).name ?? '') }),
  };
}

/** Whether the credential goes out again: it is another one, or the server is at another origin, for which the service keeps none. */
function sendsAuth(before: Entry, after: Entry): boolean {
  const origins = [before, after].map(({ fields }) => urlOf(`${fields.url}`)?.origin);
  return AUTH.some((name) => differs(before, after, name)) || origins[0] !== origins[1];
}

async function authOf({ fields }: Entry, { secret }: ChangeContext): Promise<Record<string, JsonValue>> {
  const { authType = 'NONE', authHeaderName, authValue, authHeaders } = fields;
  const auth: Record<string, JsonValue> = { authType };
  if (authHeaderName !== undefined) auth.authHeaderName = authHeaderName;
  if (isSecretReference(authValue)) auth.authValue = await secret(authValue);
  if (Array.isArray(authHeaders))
    auth.authHeaders = await Promise.all(
      (authHeaders as { name: string; value: string }[]).map(async ({ name, value }) => ({
        name,
        value: await secret(value),
      })),
    );
  return auth;
}

function settle({ status, errorMessage }: Schemas['ExternalMcp'], entry: Entry, context: ChangeContext): void {
  context.remember(keptOf(entry));
  if (status === 'ERROR')
    context.warn(
      `The MCP server ${entry.name} is stored, but not connected: ${errorMessage}. Agents cannot use it yet.`,
    );
}
