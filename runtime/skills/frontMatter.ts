import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
import { isStorable } from '../../core/text.ts';
import { SKILL_LIMITS } from './limits.ts';
import { badSkill, shown } from './refusal.ts';

/** What the front matter of a SKILL.md says, within what can be stored; null = it does not say. */
export interface FrontMatter {
  name: string;
  description: string;
  license: string | null;
  compatibility: string | null;
  /** Separated by spaces. */
  allowedTools: string | null;
  metadata: Record<string, unknown> | null;
}

/** Bounds in characters. Those of name, description and compatibility are the Agent Skills specification's (agentskills.io/specification). */
const MAX = { name: 64, description: 1024, license: 1024, compatibility: 500, 'allowed-tools': 4096 } as const;
const MAX_METADATA_DEPTH = 8;

/**
 * Nothing but plain data: YAML 1.2 has no merge keys, no tags that make other values, keys are text. Duplicate keys are errors.
 */
const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  resolveKnownTags: false,
  stringKeys: true,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

/**
 * Reads the front matter at the start of a SKILL.md; `head` is its first `SKILL_LIMITS.frontMatterBytes` bytes and a little more, as text.
 * Names need not follow the pattern of the specification (lower case and hyphens): a change of the skill may give it any other.
 * Throws INVALID_SKILL_ZIP with a sentence that says what is wrong and where.
 */
export function readFrontMatter(head: string): FrontMatter {
  const fields = topFields(yamlOf(head));
  const name = text('name', fields.get('name'));
  if (name === null) throw badSkill('The front matter of SKILL.md has no name.');
  const description = text('description', fields.get('description'));
  if (description === null) throw badSkill('The front matter of SKILL.md has no description.');
  return {
    name,
    description,
    license: text('license', fields.get('license')),
    compatibility: text('compatibility', fields.get('compatibility')),
    allowedTools: allowedTools(fields.get('allowed-tools')),
    metadata: metadata(fields.get('metadata')),
  };
}

/** The text between the two lines of `---`. */
function yamlOf(head: string): string {
  const opening = /^\uFEFF?---[ \t]*\r?\n/.exec(head);
  if (!opening) throw badSkill('SKILL.md has no front matter: its first line must be ---.');
  const rest = head.slice(opening[0].length);
  const closing = /^---[ \t]*\r?$/m.exec(rest);
  if (!closing || Buffer.byteLength(rest.slice(0, closing.index)) > SKILL_LIMITS.frontMatterBytes) {
    throw badSkill(
      `The front matter of SKILL.md does not end with a line of --- within ${SKILL_LIMITS.frontMatterBytes} bytes.`,
    );
  }
  return rest.slice(0, closing.index);
}

function topFields(yaml: string): Map<string, Node> {
  const lineCounter = new LineCounter();
  const document = parseDocument(yaml, { ...YAML_OPTIONS, lineCounter });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    // The parser does not see the line of --- before.
    throw badSkill(
      `The front matter of SKILL.md is not valid YAML: ${error.message} (line ${line + 1}, column ${col}).`,
    );
  }
  if (!isMap(document.contents))
    throw badSkill('The front matter of SKILL.md must be fields, such as "name: my-skill".');
  const fields = new Map<string, Node>();
  for (const { key, value } of document.contents.items) {
    if (value !== null && !(isScalar(value) && value.value === null)) fields.set(keyOf(key), value);
  }
  return fields;
}

function keyOf(key: unknown): string {
  return String(isScalar(key) ? key.value : key);
}

/** A text as written, also where YAML takes it for a number or a boolean; null when it is empty. */
function text(field: keyof typeof MAX, node: Node | undefined): string | null {
  if (node === undefined) return null;
  if (!isScalar(node)) throw badSkill(`The ${field} in the front matter of SKILL.md must be text.`);
  const value = checked(field, asWritten(node)).trim();
  if ([...value].length > MAX[field]) {
    throw badSkill(`The ${field} in the front matter of SKILL.md has more than ${MAX[field]} characters.`);
  }
  return value === '' ? null : value;
}

function asWritten({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? String(value));
}

function checked(field: string, value: string): string {
  if (!isStorable(value)) {
    throw badSkill(`The ${field} in the front matter of SKILL.md has characters that cannot be stored.`);
  }
  return value;
}

/** Text as written, or a list of texts. */
function allowedTools(node: Node | undefined): string | null {
  const field = 'allowed-tools';
  if (!isSeq(node)) return text(field, node);
  const tools = node.items.map((item) => text(field, item as Node)).filter((tool) => tool !== null);
  const joined = tools.join(' ');
  if ([...joined].length > MAX[field]) {
    throw badSkill(`The ${field} in the front matter of SKILL.md have more than ${MAX[field]} characters.`);
  }
  return joined === '' ? null : joined;
}

function metadata(node: Node | undefined): Record<string, unknown> | null {
  if (node === undefined) return null;
  if (!isMap(node)) throw badSkill('The metadata in the front matter of SKILL.md must be fields with values.');
  return json(node, 1) as Record<string, unknown>;
}

/** The value as JSON has it. Dates are text in YAML 1.2; a number that JSON would write otherwise (1.0, 0x1F, .inf) is kept as written. */
function json(node: unknown, depth: number): unknown {
  if (depth > MAX_METADATA_DEPTH) {
    throw badSkill(`The metadata in the front matter of SKILL.md is nested more than ${MAX_METADATA_DEPTH} deep.`);
  }
  if (node === null) return null;
  if (isAlias(node))
    throw badSkill('The metadata in the front matter of SKILL.md repeats a value by *alias. Write it out.');
  if (isSeq(node)) return node.items.map((item) => json(item, depth + 1));
  if (isMap(node)) {
    const entries = node.items.map((pair): [string, unknown] => {
      const key = checked('metadata', keyOf(pair.key));
      // Copying such an object field by field would change what it inherits.
      if (key === '__proto__')
        throw badSkill(`The metadata in the front matter of SKILL.md has a field ${shown(key)}.`);
      return [key, json(pair.value, depth + 1)];
    });
    return Object.fromEntries(entries);
  }
  if (!isScalar(node)) throw badSkill('The metadata in the front matter of SKILL.md is not plain data.');
  const { value } = node;
  if (typeof value === 'number' && String(value) === node.source) return value;
  if (value === null || typeof value === 'boolean') return value;
  return checked('metadata', asWritten(node));
}
