import { extname } from 'node:path';
import type { components } from '../../../generated/api.ts';
import { type JsonObject, withoutDefaults } from '../json.ts';
import type { ChangeContext, Content, Entry, Kind } from '../kind.ts';
import { fileSchema } from '../schemas/requestSchemas.ts';
import { changesOf, contentOf, oldestFirst, textOf } from './fields.ts';
import { MISSING, missingContent } from './missingContent.ts';

type Schemas = components['schemas'];

/** The service decides by the bytes; the extension tells texts apart. */
const EXTENSIONS = ['.pdf', '.txt', '.csv', '.docx', '.md'];

/** Where the one content of a source stands in `Entry.files`, wherever it is on disk. */
const CONTENT = 'content';

/** The knowledge sources of a workspace: `knowledge/<name>.yaml`, with the file beside it. Their contents never change on the service. */
export const knowledgeSourceKind: Kind = {
  kind: 'knowledge-source',
  after: [],
  layout: { form: 'file', folder: 'knowledge' },
  namesRepeat: true,
  schema: fileSchema(['KnowledgeSourceMetadata'], {
    omit: ['name'],
    properties: {
      sourceType: {
        type: 'string',
        enum: ['FILE_UPLOAD', 'TEXT_INPUT'],
        description: '`TEXT_INPUT`: the file is sent as a text. Absent for `FILE_UPLOAD`.',
      },
      file: { type: 'string', minLength: 1, description: 'The file with the content: its path beside this one.' },
      content: MISSING,
    },
  }),

  async list({ api, warn }) {
    const sources = await oldestFirst(api.items('listKnowledgeSources', { query: { limit: 100 } }));
    return sources.map((raw) => {
      if (raw.processingStatus === 'FAILED')
        warn(`The knowledge source ${raw.name} could not be read: ${raw.errorMessage}`);
      return { id: raw.publicId, name: raw.name, raw };
    });
  },

  async read({ id, name, raw }, { known }) {
    const { description, sourceType } = raw as Schemas['KnowledgeSource'];
    const kept = known(id)?.kept;
    const isKnown = typeof kept?.file === 'string' && typeof kept.sha256 === 'string';
    const fields = withoutDefaults({
      description: textOf(description),
      ...(sourceType === 'TEXT_INPUT' && { sourceType }),
      ...(isKnown && { file: kept.file }),
    });
    const files: Record<string, Content> = isKnown ? { [CONTENT]: { sha256: kept.sha256 as string } } : {};
    return { kind: 'knowledge-source', name, fields, files };
  },

  async fromFile(_name, yaml, place) {
    const { description, sourceType, file } = yaml;
    const text = typeof description === 'string' ? textOf(description) : undefined;
    const fields = withoutDefaults({ description: text, sourceType, file }, { sourceType: 'FILE_UPLOAD' });
    const files: Record<string, Content> = {};
    if (typeof file !== 'string') return { fields, files };
    if (!EXTENSIONS.includes(extname(file).toLowerCase()))
      throw place.fault(['file'], `\`file\` must be one of ${EXTENSIONS.join(', ')}.`);
    const content = contentOf(await place.read(file));
    if (sourceType === 'TEXT_INPUT')
      demandText(content.bytes, () => place.fault(['file'], 'the file is no UTF-8 text.'));
    files[CONTENT] = content;
    return { fields, files };
  },

  toFile({ fields, files }) {
    const { file } = fields;
    if (typeof file !== 'string') return { yaml: { ...fields, content: 'missing' }, files: {} };
    return { yaml: fields, files: files[CONTENT] ? { [file]: files[CONTENT] } : {} };
  },

  refusal(_listed, before, after) {
    return !before && after && !after.files[CONTENT]
      ? missingContent('put its file into knowledge/ and name it in `file`')
      : undefined;
  },

  async create(entry, context) {
    return { id: await add(entry, context), entry };
  },

  replaces,

  async change(id, before, after, context) {
    if (replaces(before, after)) return { id: await add(after, context) };
    const body: Schemas['KnowledgeSourceUpdate'] = changesOf(before, after, ['description'], { description: '' });
    if (before.name !== after.name) body.name = after.name;
    if (Object.keys(body).length > 0)
      await context.api.call('updateKnowledgeSource', { path: { knowledgeSourcePublicId: id }, body });
    context.remember(after.files[CONTENT] ? keptOf(after) : {});
  },

  async remove(id, { api }) {
    await api.call('deleteKnowledgeSource', { path: { knowledgeSourcePublicId: id } });
  },
};

/** Adds a source with the content of the entry. Answers its id. */
async function add(entry: Entry, { api, idempotencyKey, remember }: ChangeContext): Promise<string> {
  const { file, description, sourceType } = entry.fields;
  const about = { name: entry.name, ...(typeof description === 'string' && { description }) };
  const bytes = entry.files[CONTENT]?.bytes;
  if (!bytes || typeof file !== 'string') throw new Error(`${entry.name}: the content is missing`);
  const { publicId } =
    sourceType === 'TEXT_INPUT'
      ? await api.call('createKnowledgeSource', {
          body: { ...about, textContent: Buffer.from(bytes).toString('utf8') },
          idempotencyKey,
        })
      : await api.call('createKnowledgeSource', {
          file: { data: Uint8Array.from(bytes), name: file.slice(file.lastIndexOf('/') + 1) },
          metadata: about,
          idempotencyKey,
        });
  remember(keptOf(entry));
  return publicId;
}

/** Whether the file has another content than the source, or comes another way: then only a new source has it. */
function replaces(before: Entry, after: Entry): boolean {
  const wanted = after.files[CONTENT];
  if (!wanted) return false;
  return wanted.sha256 !== before.files[CONTENT]?.sha256 || before.fields.sourceType !== after.fields.sourceType;
}

function keptOf({ fields, files }: Entry): JsonObject {
  return { file: fields.file ?? '', sha256: files[CONTENT]?.sha256 ?? '' };
}

function demandText(bytes: Uint8Array, fault: () => Error): void {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw fault();
  }
}
