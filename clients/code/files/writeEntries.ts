import { posix } from 'node:path';
import { sha256 } from '../digest.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import type { Content, Entry, Kind } from '../kind.ts';
import { schemaLine } from '../schemas/editorSchemas.ts';
import { readFileBelow, removeFileBelow, writeFileWhole } from './disk.ts';
import { slugOf } from './slug.ts';
import { yamlText } from './yaml.ts';

/** Contents larger than this are never on disk: the service takes none. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/** Where entries of a kind are written. Entries that have a place keep it; new ones get one from their name. */
export function placesOf(
  kind: Kind,
  names: readonly string[],
  present: ReadonlyMap<string, string>,
): Map<string, string> {
  const { layout } = kind;
  const places = new Map<string, string>();
  if (layout.form !== 'folder' && layout.form !== 'file') return places;
  const ending = layout.form === 'file' ? '.yaml' : '';
  const taken = new Set<string>();
  for (const name of names) {
    const path = present.get(name);
    if (path === undefined) continue;
    places.set(name, path);
    taken.add(path.slice(layout.folder.length + 1, path.length - ending.length).toLowerCase());
  }
  for (const name of names.toSorted()) {
    if (places.has(name)) continue;
    const slug = slugOf(name, taken);
    taken.add(slug);
    places.set(name, `${layout.folder}/${slug}${ending}`);
  }
  return places;
}

/** The files that describe these entries of a kind, all of them. */
export function filesOf(
  kind: Kind,
  entries: readonly Entry[],
  places: ReadonlyMap<string, string>,
): Map<string, Content> {
  const { layout } = kind;
  const files = new Map<string, Content>();
  const add = (path: string, yaml: JsonObject | JsonValue[]) => {
    const bytes = Buffer.from(`${schemaLine(kind, path)}\n${yamlText(yaml)}`);
    files.set(path, { sha256: sha256(bytes), bytes });
  };
  const written = entries.map((entry) => ({ entry, ...(kind.toFile?.(entry) ?? { yaml: entry.fields, files: {} }) }));
  const named = ({ entry, yaml }: (typeof written)[number]): JsonObject => ({
    [kind.nameField ?? 'name']: entry.name,
    ...yaml,
  });
  if (layout.form === 'list') {
    if (written.length > 0) add(layout.file, written.map(named));
    return files;
  }
  for (const item of written) {
    const place = places.get(item.entry.name) ?? '';
    const file = layout.form === 'single' ? layout.file : layout.form === 'folder' ? `${place}/${layout.file}` : place;
    add(file, layout.form === 'single' ? item.yaml : named(item));
    for (const [path, content] of Object.entries(item.files)) files.set(posix.join(posix.dirname(file), path), content);
  }
  return files;
}

/** What writing came to. */
export interface WriteResult {
  written: string[];
  removed: string[];
  /** Files whose content the service does not give back, and that are not on disk as they were applied. */
  missing: string[];
}

/** Writes files that differ from what is on disk, each as a whole, and removes those of `former` that are no longer among them. */
export async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, Content>,
  former: Iterable<string>,
): Promise<WriteResult> {
  const result: WriteResult = { written: [], removed: [], missing: [] };
  for (const [path, { bytes, sha256: digest }] of files) {
    const present = await readFileBelow(folder, path, MAX_KEPT_BYTES);
    const isSame = present !== undefined && sha256(present) === digest;
    if (isSame) continue;
    if (bytes) {
      await writeFileWhole(folder, path, bytes);
      result.written.push(path);
    } else if (present === undefined || digest !== undefined) result.missing.push(path);
  }
  const kept = new Set([...files.keys()].map((path) => path.toLowerCase()));
  for (const path of former) {
    // On a file system that ignores case this is the file that was just written.
    if (kept.has(path.toLowerCase())) continue;
    await removeFileBelow(folder, path);
    result.removed.push(path);
  }
  return result;
}
