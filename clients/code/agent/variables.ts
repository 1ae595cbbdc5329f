import { isJsonObject, type JsonObject, type JsonValue, withoutDefaults } from '../json.ts';
import type { AgentPart, ChangeContext } from '../kind.ts';
import { fileSchema } from '../schemas/requestSchemas.ts';
import { itemChanges, itemsIn, type NamedItem, sortedItems, withKept } from './items.ts';
import { hasCode } from './links.ts';

const VARIABLE_DEFAULTS = { multiChoiceSeparator: ', ' };

function canonicalVariable(variable: JsonObject): NamedItem {
  const { name, label, description, type, required, defaultValue, options, ...texts } = variable;
  const plain = Array.isArray(options)
    ? options.map((option) => {
        const { label: shown, injectedText } = option as JsonObject;
        return { label: shown, injectedText };
      })
    : undefined;
  const { multiChoiceSeparator, booleanTextWhenTrue, booleanTextWhenFalse } = texts;
  return {
    name: name as string,
    label: label as string,
    ...withoutDefaults({ description, type, required }),
    // False is a default value of a boolean like any other.
    ...(defaultValue !== null && defaultValue !== undefined && { defaultValue }),
    ...withoutDefaults({ options: plain as JsonValue[] | undefined }),
    ...withoutDefaults({ multiChoiceSeparator, booleanTextWhenTrue, booleanTextWhenFalse }, VARIABLE_DEFAULTS),
  };
}

/** Every field of a variable, so that what the file leaves out is cleared. */
function variableBody(item: NamedItem, sortOrder: number | undefined) {
  const without = {
    description: null,
    required: false,
    defaultValue: null,
    options: null,
    multiChoiceSeparator: null,
    booleanTextWhenTrue: null,
    booleanTextWhenFalse: null,
  };
  return { ...without, ...(item as VariableItem), ...(sortOrder !== undefined && { sortOrder }) };
}

type VariableItem = NamedItem & { label: string; type: 'text_short' };

/** The variables of the dynamic prompt, in their order. */
export const variablesPart: AgentPart = {
  field: 'variables',
  schema: { type: 'array', items: fileSchema(['AgentVariableCreate'], { omit: ['sortOrder'] }) },
  async read(agentPublicId, { api }) {
    const variables = await api.call('listVariables', { path: { agentPublicId } });
    return variables.length === 0
      ? undefined
      : variables.map((variable) => canonicalVariable(variable as unknown as JsonObject));
  },
  fromFile: (value) =>
    (value as JsonObject[]).map((variable) => {
      const { options } = variable;
      if (!Array.isArray(options) || !options.some((option) => isJsonObject(option) && 'sortOrder' in option))
        return canonicalVariable(variable);
      const place = (option: JsonValue, index: number) => (isJsonObject(option) ? (option.sortOrder ?? index) : index);
      const ordered = options
        .map((option, index) => [Number(place(option, index)), option] as const)
        .sort(([left], [right]) => left - right)
        .map(([, option]) => option);
      return canonicalVariable({ ...variable, options: ordered });
    }),
  keep: withKept,
  async change(agentPublicId, before, after, { api }) {
    const path = { agentPublicId };
    const { added, changed, removed } = itemChanges(before, after);
    const present = new Map((await api.call('listVariables', { path })).map((variable) => [variable.name, variable]));
    const wanted = itemsIn(after).map(({ name }) => name);
    const kept = [...present.keys()].filter((name) => wanted.includes(name));
    // The order holds without a change of places when new variables come last.
    const isOrdered = [...kept, ...wanted.filter((name) => !present.has(name))].join('\n') === wanted.join('\n');
    const last = Math.max(-1, ...[...present.values()].map(({ sortOrder }) => sortOrder));
    const placeOf = (name: string) => {
      const index = wanted.indexOf(name);
      if (!isOrdered) return index;
      return present.has(name) ? undefined : Math.max(index, last);
    };
    // Former ones go first: their number may be limited.
    for (const { name } of removed) {
      const variable = present.get(name);
      if (!variable) continue;
      const query = { mode: 'purge', confirmation: 'DELETE' } as const;
      await api
        .call('deleteVariable', { path: { ...path, variablePublicId: variable.publicId }, query })
        .catch((error) => {
          if (!hasCode(error, 'VARIABLE_NOT_FOUND')) throw error;
        });
    }
    const moved = isOrdered ? [] : itemsIn(after).filter(({ name }) => present.has(name));
    const update = [...new Set([...changed.map((change) => change.after), ...moved])];
    for (const item of [...added, ...update]) {
      const body = variableBody(item, placeOf(item.name));
      const variable = present.get(item.name);
      if (!variable) await api.call('createVariable', { path, body });
      else await api.call('updateVariable', { path: { ...path, variablePublicId: variable.publicId }, body });
    }
  },
};

/** The slash commands. */
export const commandsPart: AgentPart = {
  field: 'commands',
  schema: { type: 'array', items: fileSchema(['AgentCommandCreate', 'AgentCommandUpdate']) },
  async read(agentPublicId, { api }) {
    const commands = await api.call('listCommands', { path: { agentPublicId } });
    return sortedItems(
      commands.map(({ name, command, description, prompt, status }) =>
        canonicalCommand({ name, command, description, prompt, status }),
      ),
    );
  },
  fromFile: (value) => sortedItems((value as JsonObject[]).map(canonicalCommand)),
  keep: withKept,
  async change(agentPublicId, before, after, context) {
    const { api } = context;
    const { added, changed, removed } = itemChanges(before, after);
    if (added.length + changed.length + removed.length === 0) return;
    const present = await api.call('listCommands', { path: { agentPublicId } });
    const ids = new Map(present.map(({ name, publicId }) => [name, publicId]));
    for (const { name } of removed) {
      const commandPublicId = ids.get(name);
      if (commandPublicId === undefined) continue;
      await api.call('deleteCommand', { path: { agentPublicId, commandPublicId } }).catch((error) => {
        if (!hasCode(error, 'COMMAND_NOT_FOUND')) throw error;
      });
    }
    for (const item of [...changed.map((change) => change.after), ...added])
      await putCommand(agentPublicId, ids.get(item.name), item as CommandItem, context);
  },
};

type CommandItem = NamedItem & {
  command: string;
  prompt: string;
  description?: string;
  status?: 'active' | 'inactive';
};

async function putCommand(
  agentPublicId: string,
  id: string | undefined,
  { status = 'active', ...item }: CommandItem,
  { api }: ChangeContext,
): Promise<void> {
  let commandPublicId = id;
  if (commandPublicId === undefined) {
    const made = await api.call('createCommand', { path: { agentPublicId }, body: item });
    if (status === 'active') return;
    commandPublicId = made.publicId;
  }
  await api.call('updateCommand', {
    path: { agentPublicId, commandPublicId },
    body: { description: '', ...item, status },
  });
}

function canonicalCommand({ name, command, description, prompt, status }: JsonObject): NamedItem {
  return {
    name: name as string,
    ...withoutDefaults({ command, description, prompt, status }, { description: '', status: 'active' }),
  };
}
