import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
import { ApiError } from '../../core/errors.ts';
import { isStorable } from '../../core/text.ts';
import { findFrontMatter } from './frontMatterPlace.ts';
import { SKILL_LIMITS } from './limits.ts';
import { badSkill, shown } from './refusal.ts';

/** The fields of the front matter of a SKILL.md; null = absent or empty. */
export interface FrontMatter {
  name: string;
  description: string;
  license: string | null;
  compatibility: string | null;
  /** Separated by spaces. */
  allowedTools: string | null;
  metadata: Record<string, unknown> | null;
}

/** Maximum characters. Those of name, description and compatibility come from the Agent Skills specification (agentskills.io/specification). */
const MAX_CHARACTERS = {
  name: 64,
  description: 1024,
  license: 1024,
  compatibility: 500,
  'allowed-tools': 4096,
} as const;
const MAX_METADATA_DEPTH = 8;

/** Plain data only: YAML 1.2 without merge keys, no tags that create other values, only text as keys. Duplicate keys are errors. */
const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  resolveKnownTags: false,
  stringKeys: true,
  prettyErrors: false,
  logLevel: 'silent',
} as const;

/**
 * Reads the front matter of a SKILL.md from `head`, the beginning of its text (`HEAD_BYTES`). A name need not follow the pattern of the
 * specification (lower case and hyphens), because an update may give a skill any name. Throws INVALID_SKILL_ZIP with a sentence that
 * says what is wrong and where.
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

/** What reading front matter comes to: its fields, or the sentence of INVALID_SKILL_ZIP. */
export type FrontMatterRead = { frontMatter: FrontMatter } | { refusal: string };

/** Reads as `readFrontMatter` does, and throws nothing, so that a thread can do it. */
export function tryFrontMatter(head: string): FrontMatterRead {
  try {
    return { frontMatter: readFrontMatter(head) };
  } catch (error) {
    if (error instanceof ApiError) return { refusal: error.message };
    throw error;
  }
}

function yamlOf(head: string): string {
  const found = findFrontMatter(head);
  if (found === 'missing') throw badSkill('SKILL.md has no front matter: its first line must be ---.');
  if (found === 'unclosed') {
    throw badSkill(
      `The front matter of SKILL.md does not end with a line of --- within ${SKILL_LIMITS.frontMatterBytes} bytes.`,
    );
  }
  return found.yaml;
}

function topFields(yaml: string): Map<string, Node> {
  const lineCounter = new LineCounter();
  const document = parseDocument(yaml, { ...YAML_OPTIONS, lineCounter });
  const [error] = document.errors;
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    // The parser does not see the first line, ---.
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

/** The text of a field as it is written, also where YAML reads a number or a boolean; null when it is empty. */
function text(field: keyof typeof MAX_CHARACTERS, node: Node | undefined): string | null {
  if (node === undefined) return null;
  if (!isScalar(node)) throw badSkill(`The ${field} in the front matter of SKILL.md must be text.`);
  const value = checked(field, asWritten(node)).trim();
  if ([...value].length > MAX_CHARACTERS[field]) {
    throw badSkill(`The ${field} in the front matter of SKILL.md has more than ${MAX_CHARACTERS[field]} characters.`);
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

/** The field may be a text or a list of texts. */
function allowedTools(node: Node | undefined): string | null {
  const field = 'allowed-tools';
  if (!isSeq(node)) return text(field, node);
  const tools = node.items.map((item) => text(field, item as Node)).filter((tool) => tool !== null);
  const joined = tools.join(' ');
  if ([...joined].length > MAX_CHARACTERS[field]) {
    throw badSkill(`The ${field} in the front matter of SKILL.md have more than ${MAX_CHARACTERS[field]} characters.`);
  }
  return joined === '' ? null : joined;
}

function metadata(node: Node | undefined): Record<string, unknown> | null {
  if (node === undefined) return null;
  if (!isMap(node)) throw badSkill('The metadata in the front matter of SKILL.md must be fields with values.');
  return json(node, 1) as Record<string, unknown>;
}

/** The value as JSON. Dates are text in YAML 1.2. A number that JSON would write in another way (1.0, 0x1F, .inf) stays text. */
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
      // Copying an object with this field would change the prototype of the copy.
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
