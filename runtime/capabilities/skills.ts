import { extname } from 'node:path';
import {
  findSkillText,
  type SkillFileRow,
  type SkillTextRow,
  selectSkillFiles,
} from '../../db/queries/tools/skills.ts';
import type { AgentScope, AgentTool, ToolOutput } from '../agent/tool.ts';
import type { LinkedSkill, Resources } from '../resources/resources.ts';
import { findFrontMatter, HEAD_BYTES } from '../skills/frontMatterPlace.ts';
import type { Capability } from './capability.ts';
import { errorOutput, textOutput } from './output.ts';
import { ownTool } from './ownTool.ts';
import { oneLine } from './quoting.ts';

const SKILL_FILE = 'SKILL.md';
/** Characters of a description in the index; the skill itself has the whole description. */
const MAX_DESCRIPTION_CHARS = 500;
/** Bytes of a text that one call returns. */
const MAX_READ_BYTES = 24_000;
/** Characters of a list of files or skills in an output. */
const MAX_LIST_CHARS = 4_000;
/** An offset beyond every file that still fits PostgreSQL's integer. */
const MAX_OFFSET = 2 ** 30;

/** The part of the scope that the section on skills reads. */
interface SkillHolder {
  resources: Pick<Resources, 'skills'>;
}

/** Skills that the model reads when one fits the task. */
export const skillsCapability = {
  name: 'skills',
  isActive: ({ resources }) => resources.skills.length > 0,
  section: ({ resources }: SkillHolder) => section(resources.skills),
  tools: (scope) => [readTool(scope)],
} satisfies Capability;

/** An index of the skills, by which the model decides which to read. */
function section(skills: readonly LinkedSkill[]): string {
  const lines = skills.map(({ name, description }) => {
    const about = oneLine(description, MAX_DESCRIPTION_CHARS);
    return about === '' ? `- ${oneLine(name)}` : `- ${oneLine(name)}: ${about}`;
  });
  const use =
    'Each skill has instructions, and often files, for one kind of task. When one fits what is asked, read it with `read_skill` before you begin and follow it; files that it mentions are read with `read_skill` and their path.';
  return `# Skills\n\n${use}\n\n${lines.join('\n')}`;
}

/** One object for all turns: what is made of a schema for models is remembered with it. */
const READ_SCHEMA = {
  type: 'object',
  properties: {
    skill: { type: 'string', minLength: 1, description: 'Name of the skill.' },
    path: { type: 'string', description: 'A file of the skill. Without it: its instructions.' },
    offset: { type: 'integer', minimum: 0, description: 'Where to read on, as the answer before says.' },
  },
  required: ['skill'],
  additionalProperties: false,
};

function readTool(scope: AgentScope): AgentTool {
  const { skills } = scope.resources;
  return ownTool({
    name: 'read_skill',
    description: 'Reads the instructions of a skill with the list of its files, or one of its files.',
    inputSchema: READ_SCHEMA,
    async run({ skill: name, path, offset }) {
      const skill = typeof name === 'string' ? findSkill(skills, name) : undefined;
      if (!skill) {
        const names = listed(skills.map((one) => oneLine(one.name)));
        return errorOutput(`There is no skill ${shown(name)}. These are there:\n${names}`);
      }
      const file = typeof path === 'string' ? path.replace(/^(?:\.?\/)+/, '') : '';
      return await read(scope, skill, file === '' ? SKILL_FILE : file, offsetOf(offset));
    },
  });
}

/** Finds a skill by its exact name, or else by the name as the index writes it, in any case. */
function findSkill(skills: readonly LinkedSkill[], name: string): LinkedSkill | undefined {
  const plain = (text: string) => oneLine(text).toLowerCase();
  return skills.find((one) => one.name === name) ?? skills.find((one) => plain(one.name) === plain(name));
}

function offsetOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.floor(value), MAX_OFFSET) : 0;
}

async function read(scope: AgentScope, skill: LinkedSkill, path: string, offset: number): Promise<ToolOutput> {
  const { db, workspaceId } = scope;
  const isStart = path === SKILL_FILE && offset === 0;
  const part = { from: offset, bytes: MAX_READ_BYTES + (isStart ? HEAD_BYTES : 0) };
  const [file, files] = await Promise.all([
    path.includes('\0') ? undefined : findSkillText(db, workspaceId, skill.id, path.toWellFormed(), part),
    isStart ? selectSkillFiles(db, workspaceId, skill.id) : undefined,
  ]);
  if (!file) return await missingFile(scope, skill, path, files);
  const title = `${path} of the skill "${oneLine(skill.name)}"`;
  if (file.binary) {
    const kind = extname(path).slice(1).toUpperCase();
    return textOutput(
      `${title} is a binary file${kind && ` (${kind})`} of ${file.size_bytes} bytes. It cannot be read as text.`,
    );
  }
  if (offset > 0 && offset >= file.size_bytes)
    return errorOutput(`${title} ends at ${file.size_bytes}, before this offset.`);
  const start = isStart ? bodyStart(file.content) : 0;
  const { text, end } = partOf({ ...file, content: file.content.subarray(start) }, offset + start);
  const more = end < file.size_bytes ? ` (up to ${end} of ${file.size_bytes} bytes; read on with offset ${end})` : '';
  const others = (files ?? []).filter((one) => one.path !== SKILL_FILE);
  const list = others.length === 0 ? '' : `\n\nIts files:\n${listed(others.map(fileLine))}`;
  return textOutput(`${title}${more}:\n\n${list === '' ? text : text.trimEnd()}${list}`);
}

/**
 * Cuts what was read to whole characters, and to whole lines where that keeps more than half of it. `end` is the offset in the file at
 * which to read on.
 */
function partOf({ content, size_bytes: size }: SkillTextRow, offset: number): { text: string; end: number } {
  const start = content.findIndex((byte) => (byte & 0xc0) !== 0x80);
  const window = content.subarray(Math.max(start, 0), Math.max(start, 0) + MAX_READ_BYTES);
  const from = offset + Math.max(start, 0);
  // With `stream`, the decoder leaves out a character that the window cuts in two.
  let text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(window, { stream: true });
  const lines = text.lastIndexOf('\n') + 1;
  if (from + window.length < size && lines > text.length / 2) text = text.slice(0, lines);
  const end = from + Buffer.byteLength(text);
  if (from === 0) text = text.replace(/^\uFEFF/, '');
  return { text: end < size ? text : text.trimEnd(), end };
}

/** The offset of the instructions behind the front matter. The model knows the front matter from the index. */
function bodyStart(bytes: Buffer): number {
  const head = bytes.toString('utf8', 0, HEAD_BYTES);
  const found = findFrontMatter(head);
  return typeof found === 'string' ? 0 : Buffer.byteLength(head.slice(0, found.end));
}

async function missingFile(
  { db, workspaceId }: AgentScope,
  skill: LinkedSkill,
  path: string,
  known: readonly SkillFileRow[] | undefined,
): Promise<ToolOutput> {
  const files = known ?? (await selectSkillFiles(db, workspaceId, skill.id));
  const name = oneLine(skill.name);
  if (files.length === 0) return errorOutput(`The skill "${name}" is no longer there.`);
  const folder = `${path.replace(/(?<!\/)\/+$/, '')}/`;
  const inside = files.filter((file) => file.path.startsWith(folder));
  const lines = listed((inside.length > 0 ? inside : files).map(fileLine));
  if (inside.length > 0)
    return textOutput(`${oneLine(folder)} is a folder of the skill "${name}" with these files:\n${lines}`);
  return errorOutput(`The skill "${name}" has no file ${shown(path)}. These are there:\n${lines}`);
}

function fileLine({ path, size_bytes: size, binary }: SkillFileRow): string {
  return `${path} (${binary ? 'binary, ' : ''}${size} bytes)`;
}

/** The lines that fit into an output, and how many are left out. */
function listed(lines: readonly string[]): string {
  let room = MAX_LIST_CHARS;
  const shownLines = lines.filter((line) => {
    room -= line.length + 3;
    return room >= 0;
  });
  const missing = lines.length - shownLines.length;
  return [...shownLines.map((line) => `- ${line}`), ...(missing > 0 ? [`and ${missing} more`] : [])].join('\n');
}

const shown = (value: unknown): string => JSON.stringify(oneLine(String(value), 300));
