import { isSame } from '../compare/differences.ts';
import { type JsonValue, withoutDefaults } from '../json.ts';
import type { AgentPart, ChangeContext } from '../kind.ts';
import type { NamedItem } from './items.ts';

interface ConnectionItem extends NamedItem {
  toolkit: string;
}

function connectionsIn(value: JsonValue | undefined): ConnectionItem[] {
  return (Array.isArray(value) ? value : []) as ConnectionItem[];
}

function placeOf({ toolkit, name }: ConnectionItem): string {
  return `${toolkit}/${name}`;
}

function sortedConnections(items: ConnectionItem[]): ConnectionItem[] | undefined {
  if (items.length === 0) return undefined;
  return items.toSorted((left, right) => (placeOf(left) < placeOf(right) ? -1 : 1));
}

/**
 * Links to native MCP connections, by toolkit and name. A person authorizes connections in the console: a workspace that has none with this
 * toolkit and name gets none from files.
 */
export const nativeMcpLinks: AgentPart = {
  field: 'nativeMcps',
  schema: {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['toolkit', 'name'],
      properties: {
        toolkit: { type: 'string', minLength: 1, description: 'Slug of the toolkit, such as `slack`.' },
        name: { type: 'string', minLength: 1, description: 'Name of the connection in the console.' },
        instanceMode: { enum: ['STATIC', 'DYNAMIC'], description: '`STATIC` when absent.' },
      },
    },
  },
  async read(agentPublicId, { api }) {
    const { connections } = await api.call('listNativeMcpLinks', { path: { agentPublicId } });
    return sortedConnections(
      connections.map(({ toolkitSlug, name, instanceMode }) => ({
        toolkit: toolkitSlug,
        name,
        ...withoutDefaults({ instanceMode }, { instanceMode: 'STATIC' }),
      })),
    );
  },
  fromFile: (value) =>
    sortedConnections(
      connectionsIn(value).map(({ toolkit, name, instanceMode }) => ({
        toolkit,
        name,
        ...withoutDefaults({ instanceMode }, { instanceMode: 'STATIC' }),
      })),
    ),
  async change(agentPublicId, before, after, context) {
    if (isSame(before, after)) return;
    const { api } = context;
    const path = { agentPublicId };
    const linked = (await api.call('listNativeMcpLinks', { path })).connections;
    const wanted = new Map(connectionsIn(after).map((item) => [placeOf(item), item]));
    const present = new Map(linked.map((each) => [`${each.toolkitSlug}/${each.name}`, each]));
    for (const [place, { publicId }] of present)
      if (!wanted.has(place)) await api.call('unlinkNativeMcp', { path: { ...path, connectionPublicId: publicId } });
    for (const [place, item] of wanted) {
      const instanceMode = item.instanceMode === 'DYNAMIC' ? 'DYNAMIC' : 'STATIC';
      const connection = present.get(place);
      const connectionPublicId = connection?.publicId ?? (await linkConnection(agentPublicId, item, context));
      if ((connection?.instanceMode ?? 'STATIC') === instanceMode) continue;
      await api.call('updateNativeMcpInstanceMode', { path: { ...path, connectionPublicId }, body: { instanceMode } });
    }
  },
};

async function linkConnection(agentPublicId: string, item: ConnectionItem, { api }: ChangeContext): Promise<string> {
  const path = { agentPublicId };
  const { connections } = await api.call('listAvailableNativeMcps', { path });
  const found = connections.filter(({ toolkitSlug, name }) => toolkitSlug === item.toolkit && name === item.name);
  if (found.length !== 1) {
    const what = `connection ${JSON.stringify(item.name)} to the toolkit ${JSON.stringify(item.toolkit)}`;
    throw new Error(
      found.length === 0
        ? `The workspace has no active ${what}. Authorize it in the console.`
        : `The workspace has ${found.length} times a ${what}. Give them different names in the console.`,
    );
  }
  const connectionPublicId = (found[0] as { publicId: string }).publicId;
  const { skipped } = await api.call('linkNativeMcps', { path, body: { connectionPublicIds: [connectionPublicId] } });
  if (skipped.length > 0) throw new Error(`The connection ${JSON.stringify(item.name)} is no longer active.`);
  return connectionPublicId;
}
