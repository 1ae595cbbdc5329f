import type { components } from '../../../generated/api.ts';
import type { Api } from '../api.ts';
import { isSame } from '../compare/differences.ts';
import { isJsonObject, type JsonObject, type JsonValue, withoutDefaults } from '../json.ts';
import type { AgentPart, ChangeContext, SecretPlace } from '../kind.ts';
import { isSecretReference, suggestReference } from '../secrets/reference.ts';

type ChannelType = components['schemas']['ChannelType'];
type Channel = components['schemas']['Channel'];

interface ChannelItem extends JsonObject {
  type: string;
}

const types = new WeakMap<Api, Promise<ChannelType[]>>();

/** What the API can do with each type; asked for once. */
async function typeOf(api: Api, type: string): Promise<ChannelType | undefined> {
  const known = types.get(api) ?? api.call('listChannelTypes');
  types.set(api, known);
  return (await known).find((each) => each.type === type);
}

function channelsIn(value: JsonValue | undefined): ChannelItem[] {
  return (Array.isArray(value) ? value : []) as ChannelItem[];
}

function sortedChannels(items: ChannelItem[]): ChannelItem[] | undefined {
  return items.length === 0 ? undefined : items.toSorted((left, right) => (left.type < right.type ? -1 : 1));
}

/** The references to the credentials of a channel that the lock file has. */
function keptCredentials(kept: JsonObject | undefined, type: string): JsonValue | undefined {
  return isJsonObject(kept) && Object.hasOwn(kept, type) ? kept[type] : undefined;
}

/**
 * Channel connections: at most one of each type. Credentials are references, and what is configured in the console only stays there.
 * A connection that a file no longer has is deleted with `--prune` only.
 */
export const channelsPart: AgentPart = {
  field: 'channels',
  schema: {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['type'],
      properties: {
        type: {
          type: 'string',
          minLength: 1,
          description: 'Type of the channel, such as `web_chat`; at most one of each.',
        },
        active: { type: 'boolean', description: 'Whether the agent answers on the channel; true when absent.' },
        instanceMode: {
          enum: ['STATIC', 'DYNAMIC'],
          description: '`STATIC` when absent. A change ends the open conversations.',
        },
        config: { type: 'object', description: 'Configuration, as `channel-types get` describes it for the type.' },
        credentials: {
          type: 'object',
          additionalProperties: { type: 'string', pattern: '^(env|file):.+' },
          description: 'Credentials, each as `env:NAME` or `file:PATH`.',
        },
      },
    },
  },
  async read(agentPublicId, { api, known, warn }) {
    const channels = await api.call('listChannels', { path: { agentPublicId } });
    const items = channels.map(async (channel): Promise<ChannelItem> => {
      const type = await typeOf(api, channel.channelType);
      const isOurs = type?.supports.configuration === true;
      if (!isOurs && channel.isConfigured)
        warn(`The channel ${channel.channelType} is configured in the console: files do not have its configuration.`);
      return {
        type: channel.channelType,
        ...(!channel.isActive && { active: false }),
        ...withoutDefaults(
          {
            instanceMode: channel.instanceMode,
            config: isOurs ? (channel.channelSpecificConfig as JsonObject | null) : undefined,
            credentials: credentialsOf(channel, type, known(agentPublicId)?.kept),
          },
          { instanceMode: 'STATIC' },
        ),
      };
    });
    return sortedChannels(await Promise.all(items));
  },
  fromFile: (value) =>
    sortedChannels(
      channelsIn(value).map(({ type, active, ...rest }) => ({
        type,
        ...(active === false && { active }),
        ...withoutDefaults(
          { instanceMode: rest.instanceMode, config: rest.config, credentials: rest.credentials },
          { instanceMode: 'STATIC' },
        ),
      })),
    ),
  keep(before, after) {
    const wanted = new Set(channelsIn(after).map(({ type }) => type));
    const kept = channelsIn(before).filter(({ type }) => !wanted.has(type));
    return kept.length === 0 ? after : sortedChannels([...channelsIn(after), ...kept]);
  },
  secrets(before, after, resend) {
    const former = new Map(channelsIn(before).map((item) => [item.type, item]));
    return channelsIn(after).flatMap((item): SecretPlace[] => {
      if (!isJsonObject(item.credentials)) return [];
      if (!resend && isSame(former.get(item.type)?.credentials, item.credentials)) return [];
      return Object.entries(item.credentials).map(([name, reference]) => ({
        reference: String(reference),
        at: [item.type, 'credentials', name],
      }));
    });
  },
  async change(agentPublicId, before, after, context) {
    const { api } = context;
    if (isSame(before, after) && !context.resendSecrets) return;
    const path = { agentPublicId };
    const present = new Map(
      (await api.call('listChannels', { path })).map((channel) => [channel.channelType as string, channel]),
    );
    const former = new Map(channelsIn(before).map((item) => [item.type, item]));
    const wanted = new Map(channelsIn(after).map((item) => [item.type, item]));
    const remembered: JsonObject = {};
    for (const [type, { publicId }] of present)
      if (!wanted.has(type))
        await api.call('deleteChannel', { path: { ...path, channelConnectionPublicId: publicId } });
    for (const [type, item] of wanted) {
      const channel =
        present.get(type) ??
        (await api.call('connectChannel', { path, body: { channelType: type, isActive: item.active !== false } }));
      await configure(agentPublicId, channel, former.get(type), item, context);
      if (isJsonObject(item.credentials)) remembered[type] = item.credentials;
    }
    context.remember(remembered);
  },
};

async function configure(
  agentPublicId: string,
  channel: Channel,
  before: ChannelItem | undefined,
  after: ChannelItem,
  context: ChangeContext,
): Promise<void> {
  const { api, secret, resendSecrets } = context;
  const path = { agentPublicId, channelConnectionPublicId: channel.publicId };
  const isActive = after.active !== false;
  const sendsCredentials =
    isJsonObject(after.credentials) && (resendSecrets || !isSame(before?.credentials, after.credentials));
  const credentials: Record<string, string> = {};
  if (sendsCredentials)
    for (const [name, reference] of Object.entries(after.credentials as JsonObject))
      credentials[name] = await secret(String(reference));
  const hasNewConfig = !isSame(before?.config, after.config);
  const body = {
    ...(channel.isActive !== isActive && { isActive }),
    ...(hasNewConfig && { channelSpecificConfig: isJsonObject(after.config) ? after.config : null }),
    ...(sendsCredentials && { credentials }),
  };
  if (Object.keys(body).length > 0) await api.call('configureChannel', { path, body });
  const mode = after.instanceMode === 'DYNAMIC' ? 'DYNAMIC' : 'STATIC';
  if (channel.instanceMode !== mode)
    await api.call('updateChannelInstanceMode', { path, body: { mode, confirm: true } });
}

/** The references of the lock file; for credentials that only the service has, references that a person can fill. */
function credentialsOf(
  channel: Channel,
  type: ChannelType | undefined,
  kept: JsonObject | undefined,
): JsonValue | undefined {
  if (!type?.supports.credentials || !channel.isConfigured) return undefined;
  const known = keptCredentials(kept, channel.channelType);
  if (isJsonObject(known) && Object.values(known).every(isSecretReference)) return known;
  const names = Object.keys((type.credentialsSchema?.properties ?? {}) as object);
  return Object.fromEntries(names.map((name) => [name, suggestReference(channel.channelType, name)]));
}
