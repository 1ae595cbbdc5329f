import { parseDocument } from 'yaml';
import type { components } from '../../../generated/api.ts';
import type { Api } from '../api.ts';
import { isJsonObject, type JsonObject, withoutDefaults } from '../json.ts';
import type { ChangeContext, Content, Entry, Kind } from '../kind.ts';
import { fileSchema } from '../schemas/requestSchemas.ts';
import { changesOf, contentOf, oldestFirst, textOf } from './fields.ts';
import { MISSING, missingContent } from './missingContent.ts';
import { archiveOf } from './zip.ts';

type Schemas = components['schemas'];

const YAML = 'skill.yaml';
const INSTRUCTIONS = 'SKILL.md';
/** Names of skills have at most as many characters. */
const MAX_NAME = 64;

/** The skills of a workspace: `skills/<name>/skill.yaml` beside `SKILL.md` and the other files. Their files never change on the service. */
export const skillKind: Kind = {
  kind: 'skill',
  after: [],
  layout: { form: 'folder', folder: 'skills', file: YAML },
  schema: fileSchema(['SkillUpdate'], { omit: ['name'], properties: { content: MISSING } }),

  async list({ api }) {
    const skills = await oldestFirst(api.items('listSkills', { query: { limit: 100 } }));
    return skills.map((raw) => ({ id: raw.publicId, name: raw.name, raw }));
  },

  async read({ id, raw }, { known }) {
    const { name, description } = raw as Schemas['Skill'];
    const kept = known(id)?.kept?.files;
    // Made of entries: `__proto__` is a name of a file, too.
    const files: Record<string, Content> = Object.fromEntries(
      Object.entries(isJsonObject(kept) ? kept : {}).map(([path, sha256]) => [path, { sha256: `${sha256}` }]),
    );
    return { kind: 'skill', name, fields: withoutDefaults({ description: textOf(description) }), files };
  },

  async fromFile(_name, yaml, place) {
    const contents: [string, Content][] = [];
    for (const path of await place.list('.')) {
      const isOther = path === YAML || path.split('/').includes('__MACOSX') || path.endsWith('.DS_Store');
      if (!isOther) contents.push([path, contentOf(await place.read(path))]);
    }
    const files = Object.fromEntries(contents);
    const instructions = instructionsOf(files);
    if (!instructions && Object.keys(files).length > 0) throw place.fault([], `the folder has no ${INSTRUCTIONS}.`);
    const { description = instructions && frontMatterOf(instructions).description } = yaml;
    const text = typeof description === 'string' ? textOf(description) : undefined;
    return { fields: withoutDefaults({ description: text }), files };
  },

  toFile({ fields, files }) {
    const isKnown = Object.keys(files).length > 0;
    return { yaml: isKnown ? fields : { ...fields, content: 'missing' }, files };
  },

  refusal(_listed, before, after) {
    return !before && after && !instructionsOf(after.files)
      ? missingContent(`put its ${INSTRUCTIONS} and the other files beside ${YAML}`)
      : undefined;
  },

  async create(entry, context) {
    const id = await upload(entry, context);
    return { id, entry };
  },

  replaces,

  async change(id, before, after, context) {
    if (replaces(before, after)) return { id: await upload(after, context, id) };
    const body: Schemas['SkillUpdate'] = changesOf(before, after, ['description'], { description: '' });
    if (before.name !== after.name) body.name = after.name;
    if (Object.keys(body).length > 0) await context.api.call('updateSkill', { path: { skillPublicId: id }, body });
    context.remember(instructionsOf(after.files) ? keptOf(after) : {});
  },

  async remove(id, { api }) {
    await api.call('deleteSkill', { path: { skillPublicId: id } });
  },
};

/** Uploads are made one after the other: each needs the name of its SKILL.md for a moment. */
const uploading = new WeakMap<Api, Promise<unknown>>();

/** Uploads the files of a skill in place of `replacedId`, and gives the skill its name and description. Answers its id. */
function upload(entry: Entry, context: ChangeContext, replacedId?: string): Promise<string> {
  const before = uploading.get(context.api) ?? Promise.resolve();
  const next = before.catch(() => undefined).then(() => uploadNext(entry, context, replacedId));
  uploading.set(context.api, next);
  return next;
}

async function uploadNext(entry: Entry, context: ChangeContext, replacedId: string | undefined): Promise<string> {
  const { api, idempotencyKey } = context;
  const contents = Object.entries(entry.files).flatMap(([path, { bytes }]) => (bytes ? [[path, bytes] as const] : []));
  const data = Uint8Array.from(await archiveOf(Object.fromEntries(contents)));
  const instructions = instructionsOf(entry.files);
  const { name: ownName } = instructions ? frontMatterOf(instructions) : {};
  const rename = (id: string, name: string) => api.call('updateSkill', { path: { skillPublicId: id }, body: { name } });
  const named = await skillsNamed(api, [entry.name, `${ownName}`]);
  // An upload whose answer was lost is taken for what it is: its name could not be given a second time.
  const twin = named.find((each) => each.name === entry.name && !context.known(each.id) && hasFiles(each, contents));
  if (twin) {
    context.remember(keptOf(entry));
    return twin.id;
  }
  // Names are unique: the skill that is replaced, and one that has the name which SKILL.md says, give it up.
  const inTheWay = named.filter(({ id, name }) => id === replacedId || (name === ownName && name !== entry.name));
  const aside = inTheWay.map(({ id, name }) => ({ id, name, aside: `${name.slice(0, MAX_NAME - 37)} ${id}` }));
  for (const each of aside) await rename(each.id, each.aside);
  try {
    const made = await api.call('uploadSkill', {
      file: { data, name: 'skill.zip', type: 'application/zip' },
      idempotencyKey,
    });
    const description = typeof entry.fields.description === 'string' ? entry.fields.description : '';
    if (made.name !== entry.name || made.description !== description)
      await api.call('updateSkill', {
        path: { skillPublicId: made.publicId },
        body: { name: entry.name, description },
      });
    context.remember(keptOf(entry));
    for (const { id, name } of aside) if (id !== replacedId) await rename(id, name);
    return made.publicId;
  } catch (error) {
    for (const { id, name } of aside) await rename(id, name).catch(() => undefined);
    throw error;
  }
}

interface NamedSkill {
  id: string;
  name: string;
  files: Schemas['SkillFile'][];
}

async function skillsNamed(api: Api, names: readonly string[]): Promise<NamedSkill[]> {
  const found: NamedSkill[] = [];
  for await (const { publicId, name, files } of api.items('listSkills', { query: { limit: 100 } }))
    if (names.includes(name)) found.push({ id: publicId, name, files });
  return found;
}

/** Whether a skill has these files, as far as the service tells: paths and sizes. */
function hasFiles({ files }: NamedSkill, contents: readonly (readonly [string, Uint8Array])[]): boolean {
  const shown = (list: readonly [string, number][]) =>
    list.map(([path, size]) => `${path.toLowerCase()} ${size}`).sort();
  const [theirs, ours] = [
    shown(files.map(({ path, sizeBytes }) => [path, sizeBytes])),
    shown(contents.map(([path, { length }]) => [path, length])),
  ];
  return theirs.join('\n') === ours.join('\n');
}

/** Whether the folder has other files than the skill: then only a new skill has them. */
function replaces(before: Entry, after: Entry): boolean {
  const paths = new Set([...Object.keys(before.files), ...Object.keys(after.files)]);
  const isOther = [...paths].some((path) => before.files[path]?.sha256 !== after.files[path]?.sha256);
  return instructionsOf(after.files) !== undefined && isOther;
}

function keptOf({ files }: Entry): JsonObject {
  return { files: Object.fromEntries(Object.entries(files).map(([path, { sha256 }]) => [path, sha256 ?? ''])) };
}

/** The service takes SKILL.md in upper and lower case. */
function instructionsOf(files: Record<string, Content>): Content | undefined {
  return Object.entries(files).find(([path]) => path.toLowerCase() === INSTRUCTIONS.toLowerCase())?.[1];
}

/** Name and description of a SKILL.md; what cannot be read is absent, and the service says what is wrong. */
function frontMatterOf({ bytes }: Content): { name?: string; description?: string } {
  const head = Buffer.from(bytes ?? [])
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  const yaml = /^---\r?\n([\s\S]*?)\r?\n---\s*(?:\r?\n|$)/.exec(head)?.[1];
  if (yaml === undefined) return {};
  let found: unknown;
  try {
    found = parseDocument(yaml, { logLevel: 'silent' }).toJS({ maxAliasCount: 0 });
  } catch {
    return {};
  }
  if (!isJsonObject(found)) return {};
  const { name, description } = found;
  return {
    ...(typeof name === 'string' && { name: name.trim() }),
    ...(typeof description === 'string' && { description: description.trim() }),
  };
}
