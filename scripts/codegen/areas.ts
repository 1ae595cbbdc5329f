import type { Document } from '../../spec/rules/types.ts';
import { commandWords } from './commandWords.ts';
import type { OperationRow } from './operations.ts';

/**
 * The text of generated/areas.ts: a line for each tag of the document, in its order, with what it is for and its commands. The guide for coding
 * agents ends with it, so each word costs tokens in every reader.
 * @throws Error when an area's commands do not begin with one word
 */
export function areasModule(document: Document, rows: OperationRow[]): string {
  const lines = (document.tags as { name: string; description?: string }[]).map(({ name, description = '' }) => {
    const verbs = rows.filter(({ tag }) => tag === name).map(({ tag, operationId }) => commandWords(tag, operationId));
    const groups = new Set(verbs.map(([group]) => group));
    const [group] = groups;
    if (groups.size !== 1 || !group) throw new Error(`${name}: its commands begin with ${groups.size} words`);
    const tools = name.toLowerCase().replace(/[^a-z0-9]+/g, '_');
    const prefix = tools === group.replaceAll('-', '_') ? '' : ` (tools: ${tools}__…)`;
    const list = verbs.map((each) => each.slice(1).join(' ')).filter(Boolean);
    return `- \`${group}\`${prefix}: ${description.replace(/\.$/, '')}.${list.length > 0 ? ` ${list.join(', ')}` : ''}`;
  });
  return `// Written by \`npm run codegen\` from spec/. Do not edit.

/** The areas of the API: the first word of their commands, what they are for, and the words that follow. Markdown. */
export const AREAS = ${JSON.stringify(lines, null, 2)}.join('\\n');
`;
}
