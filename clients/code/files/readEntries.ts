import { FileFault, FileFaults } from '../faults.ts';
import type { JsonObject } from '../json.ts';
import type { Entry, Kind, Place } from '../kind.ts';
import { listFilesBelow, listFolderBelow, readFileBelow } from './disk.ts';
import { fileSchemaOf, RENAMED_FROM, schemaFaults } from './fileSchema.ts';
import { parseYaml, type YamlFile } from './yaml.ts';

/** The longest text of the API, a system prompt of 200,000 characters, fits several times. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** More than any upload of the API takes (20 MiB), so that the service says what its limit is. */
const MAX_CONTENT_BYTES = 64 * 1024 * 1024;

/** An entry as the files describe it. */
export interface FileEntry extends Entry {
  /** The YAML file, for messages. */
  file: string;
  /** Path of the file or folder that is this entry's alone; absent in a list. */
  path?: string;
  renamedFrom?: string;
  /** A fault with the line of a place in the YAML. */
  fault(at: (string | number)[], message: string): FileFault;
}

/** Reads the entries of these kinds from a folder. Throws FileFaults with everything that is wrong in all files. */
export async function readEntries(folder: string, kinds: readonly Kind[]): Promise<FileEntry[]> {
  const faults: FileFault[] = [];
  const entries: FileEntry[] = [];
  for (const kind of kinds) {
    const found = await collecting(faults, () => readKind(folder, kind, faults));
    const names = new Map<string, FileEntry>();
    for (const entry of found ?? []) {
      const first = names.get(entry.name);
      const nameAt = kind.nameField ?? 'name';
      if (first)
        faults.push(entry.fault([nameAt], `${first.file} has the name ${JSON.stringify(entry.name)} already.`));
      else names.set(entry.name, entry);
    }
    for (const { name, message } of kind.faults?.([...names.values()]) ?? [])
      faults.push((names.get(name) as FileEntry).fault([], message));
    entries.push(...names.values());
  }
  if (faults.length > 0) throw new FileFaults(faults);
  return entries;
}

async function collecting<Result>(faults: FileFault[], work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof FileFaults) faults.push(...error.faults);
    else if (error instanceof FileFault) faults.push(error);
    else throw error;
    return undefined;
  }
}

async function readKind(folder: string, kind: Kind, faults: FileFault[]): Promise<FileEntry[]> {
  const { layout } = kind;
  const entries: FileEntry[] = [];
  const add = async (found: Promise<FileEntry[]>) => {
    entries.push(...((await collecting(faults, () => found)) ?? []));
  };
  if (layout.form === 'list' || layout.form === 'single') {
    await add(readFile(folder, kind, layout.file, undefined));
    return entries;
  }
  for (const { name, isFolder } of (await listFolderBelow(folder, layout.folder)) ?? []) {
    const path = `${layout.folder}/${name}`;
    if (layout.form === 'file') {
      if (!isFolder && /\.yaml$/i.test(name)) await add(readFile(folder, kind, path, path));
      else if (!isFolder && /\.yml$/i.test(name))
        faults.push(new FileFault(path, undefined, 'is called .yml: rename it to .yaml.'));
    } else if (isFolder) {
      const file = `${path}/${layout.file}`;
      const found = await collecting(faults, () => readFile(folder, kind, file, path));
      if (found?.length) entries.push(...found);
      else if (found && (await listFilesBelow(folder, path)).length > 0)
        faults.push(new FileFault(path, undefined, `has no ${layout.file}.`));
    } else if (/\.ya?ml$/i.test(name)) {
      faults.push(
        new FileFault(
          path,
          undefined,
          `stands beside the folders: it belongs to ${layout.folder}/<name>/${layout.file}.`,
        ),
      );
    }
  }
  return entries;
}

/** The entries of one YAML file; none when there is no such file. */
async function readFile(folder: string, kind: Kind, file: string, path: string | undefined): Promise<FileEntry[]> {
  const text = await readTextBelow(folder, file);
  if (text === undefined) return [];
  const yaml = parseYaml(file, text);
  const isEmptyList = kind.layout.form === 'list' && yaml.value === null;
  const faults = isEmptyList ? [] : schemaFaults(cachedSchema(kind), yaml.value);
  if (faults.length > 0)
    throw new FileFaults(faults.map(({ at, message }) => new FileFault(file, yaml.lineOf(at), message)));
  if (kind.layout.form !== 'list') return [await entryOf(folder, kind, file, yaml, yaml.value as JsonObject, [], path)];
  const items = isEmptyList ? [] : (yaml.value as JsonObject[]);
  return Promise.all(items.map((item, index) => entryOf(folder, kind, file, yaml, item, [index], undefined)));
}

async function entryOf(
  folder: string,
  kind: Kind,
  file: string,
  yaml: YamlFile,
  value: JsonObject,
  around: number[],
  path: string | undefined,
): Promise<FileEntry> {
  const { [kind.nameField ?? 'name']: name, [RENAMED_FROM]: renamedFrom, ...rest } = value;
  const isSingle = kind.layout.form === 'single';
  const entryName = isSingle ? kind.kind : (name as string);
  const fault = (at: (string | number)[], message: string) =>
    new FileFault(file, yaml.lineOf([...around, ...at]), message);
  const fields = isSingle ? value : rest;
  const place = placeAround(folder, file, fault);
  const { fields: canonical, files } = (await kind.fromFile?.(entryName, fields, place)) ?? {
    fields: withoutNulls(fields),
    files: {},
  };
  return {
    kind: kind.kind,
    name: entryName,
    fields: canonical,
    files,
    file,
    fault,
    ...(path !== undefined && { path }),
    ...(!isSingle && typeof renamedFrom === 'string' && { renamedFrom }),
  };
}

function placeAround(folder: string, file: string, fault: Place['fault']): Place {
  const around = file.slice(0, file.lastIndexOf('/'));
  return {
    fault,
    async read(path) {
      const bytes = await readFileBelow(folder, `${around}/${path}`, MAX_CONTENT_BYTES);
      if (bytes === undefined) throw new FileFault(`${around}/${path}`, undefined, 'is missing.');
      return bytes;
    },
    readText: (path) => readTextBelow(folder, `${around}/${path}`),
    list: (below) => listFilesBelow(folder, below === '.' ? around : `${around}/${below}`),
  };
}

/** UTF-8 without a byte order mark and with `\n` as line end; undefined when there is no such file. */
async function readTextBelow(folder: string, path: string): Promise<string | undefined> {
  const bytes = await readFileBelow(folder, path, MAX_TEXT_BYTES);
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    throw new FileFaults([new FileFault(path, undefined, 'is not UTF-8. Save it in this encoding.')]);
  }
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as JsonObject;
}

const schemas = new WeakMap<Kind, JsonObject>();

function cachedSchema(kind: Kind): JsonObject {
  const schema = schemas.get(kind) ?? fileSchemaOf(kind);
  schemas.set(kind, schema);
  return schema;
}
