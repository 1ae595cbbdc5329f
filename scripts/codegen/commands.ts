import { readFileSync } from 'node:fs';
import type { Document } from '../../spec/rules/types.ts';
import { commandEntries } from './commandEntries.ts';
import type { OperationRow } from './operations.ts';

/** The text of generated/commands.ts: what the help of the root and of a group needs, and no more. */
export function commandsModule(document: Document, rows: OperationRow[]): string {
  const entries = commandEntries(document, rows);
  const headings = tagHeadings(document);
  const summaries = new Map(
    (document.tags as { name: string; description: string }[]).map((tag) => [tag.name, tag.description]),
  );
  const groups = new Map<string, { tag: string; lines: string[] }>();
  for (const [index, { words, operationId, summary }] of entries.entries()) {
    const [group = '', ...verb] = words;
    const lines: string[] = groups.get(group)?.lines ?? [];
    groups.set(group, { tag: rows[index]?.tag ?? '', lines });
    lines.push(`    ${JSON.stringify({ words: verb, operationId, summary })},`);
  }
  const texts = [...groups].map(
    ([group, { tag, lines }]) =>
      `  ${JSON.stringify(group)}: {"heading":${JSON.stringify(headings.get(tag))},"summary":${JSON.stringify(summaries.get(tag)?.replace(/\.$/, ''))},"commands":[\n${lines.join('\n')}\n  ]},`,
  );
  return `// Written by \`npm run codegen\` from spec/. Do not edit.
import type { OperationId } from './operations.ts';

/** The commands of the command line that are made from operations, by their first word. \`words\` are those after it. */
export const commandGroups: Record<string, { heading: string; summary: string; commands: { words: string[]; operationId: OperationId; summary: string }[] }> = {
${texts.join('\n')}
};
`;
}

function tagHeadings(document: Document): Map<string, string> {
  const groups = (document['x-tagGroups'] ?? []) as { name: string; tags: string[] }[];
  return new Map(groups.flatMap(({ name, tags }) => tags.map((tag) => [tag, name] as const)));
}

/** The text of generated/commandTable.ts: arguments and flags of every command. It is loaded when a command is called. */
export function commandTableModule(document: Document, rows: OperationRow[]): string {
  const lines = commandEntries(document, rows).map(
    ({ operationId, ...entry }) => `  ${operationId}: ${JSON.stringify(entry)},`,
  );
  return `// Written by \`npm run codegen\` from spec/. Do not edit.
import type { OperationId } from './operations.ts';

${readFileSync(new URL('./commandTypes.ts', import.meta.url), 'utf8')}
/** Every operation of the document, by operationId. */
export const commandTable: Record<OperationId, OperationCommand> = {
${lines.join('\n')}
};
`;
}
