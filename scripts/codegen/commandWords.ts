import { kebab } from '../../spec/rules/contract.ts';

/** Groups whose names would be long or say too little. A group without a name is a single command, of the operation's noun. */
const SHORT: Record<string, string> = {
  'knowledge-sources': 'knowledge',
  'agent-knowledge-sources': 'agent-knowledge',
  'agent-sub-agents': 'sub-agents',
  'public-api': '',
};

/** A name in camelCase as people type it: `listAiModels` → `list-ai-models`. */
export function hyphenated(name: string): string {
  return name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '-').toLowerCase();
}

/**
 * The words of an operation's command: the tag in kebab-case, and the operationId without what the tag says already. `listSkillLinks` of
 * Agent Skills is `agent-skills list`, `listAvailableSkills` is `agent-skills list-available`, `updateClientUser` is `clients update-user`.
 */
export function commandWords(tag: string, operationId: string): string[] {
  const group = kebab(tag);
  const [verb = '', ...rest] = hyphenated(operationId).split('-');
  const short = SHORT[group] ?? group;
  if (short === '') return [rest.join('-')];
  const left = withoutNoun(rest, group.split('-').map(singular));
  const isLink = group.startsWith('agent-') && left.length === 1 && singular(left[0] ?? '') === 'link';
  return [short, [verb, ...(isLink ? [] : left)].join('-')];
}

/** The words without the longest end of `noun` that stands among them: of `http tool`, `tool` stands in `available tools`. */
function withoutNoun(words: string[], noun: string[]): string[] {
  for (let from = 0; from < noun.length; from += 1) {
    const sought = noun.slice(from);
    const at = words.findIndex((_, index) =>
      sought.every((each, offset) => singular(words[index + offset] ?? '') === each),
    );
    if (at >= 0) return words.toSpliced(at, sought.length);
  }
  return words;
}

function singular(word: string): string {
  return word.replace(/(?<!s)s$/, '');
}
